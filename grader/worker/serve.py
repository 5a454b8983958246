"""The worker's loop: limits first, then answers the judge's requests one by one. It returns values, never verdicts.

Started as a script inside the staged kit: `serve.py --wire FD --site DIR --submission DIR --limits JSON`.
"""

import argparse
import os
import socket
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _rooflab_worker.seal import SealedProbe

KIT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Set up and serve until the judge closes the wire."""
    parser = argparse.ArgumentParser()
    for name in ("--wire", "--site", "--submission", "--limits"):
        parser.add_argument(name, required=True)
    told = parser.parse_args()
    _set_path(told.site)

    from _rooflab_worker import limits

    limits.apply(told.limits)
    with socket.socket(fileno=int(told.wire)) as wire_socket:
        _serve(wire_socket, Path(told.submission))


def _set_path(site: str) -> None:
    """Standard library, kit, libraries; the loader appends the submission after them."""
    standard = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    dynamic = [entry for entry in sys.path if entry.endswith("lib-dynload")]
    sys.path[:] = [*dict.fromkeys([*standard, *dynamic]), str(KIT), site]


def _serve(wire_socket: socket.socket, root: Path) -> None:
    from _rooflab_worker import wire

    sealed: dict[str, SealedProbe] = {}
    wire.send_frame(wire_socket, {"kind": "ready"})  # the judge's clock for the submission starts here
    while True:
        try:
            request, storages = wire.receive_frame(wire_socket)
        except wire.WireError:
            return
        reply: dict[str, Any] = {"id": request.get("id")}
        sent: list[Any] = []
        try:
            answer, sent = _answer(request, storages, root, sealed)
            if any(each.changed() for each in sealed.values()):
                answer, sent = {"kind": "tampered"}, []
            reply.update(answer)
        except (
            KeyboardInterrupt,
            SystemExit,
        ) as error:  # raised on the way, by a handler that the student set
            reply.update(kind="raised", error={"type": type(error).__name__, "message": "", "frames": []})
        try:
            wire.send_frame(wire_socket, reply, sent, caps=wire.REPLY_CAPS)
        except wire.Unsendable as error:
            wire.send_frame(
                wire_socket, {"id": request.get("id"), "kind": "unsendable", "message": str(error)}
            )
        except wire.WireError:
            return


def _answer(
    request: dict[str, Any], storages: list[Any], root: Path, sealed: "dict[str, SealedProbe]"
) -> tuple[dict[str, Any], list[Any]]:
    """One request: {verb: load | call | probe, assignment, file, function, arguments} to (reply, storages).

    A probe that is asked for the first time is added to `sealed`, if possible before the student's file is imported.
    """
    from _rooflab_worker import load, seal, wire

    importing = True
    try:
        if request["probe"] and request["probe"] not in sealed:
            # At a load: what a probe imports, torch perhaps, is no part of a call's time.
            sealed[request["probe"]] = seal.seal(request["probe"])
        module = load.load_module(root, request["assignment"], request["file"])
        if request["verb"] == "load":
            return {"kind": "loaded"}, []
        function = getattr(module, request["function"], None)
        if not callable(function):
            return {"kind": "no_function"}, []
        importing = False
        args, kwargs = wire.decode(request["arguments"], storages)
        if request["verb"] == "probe":
            value = sealed[request["probe"]].run(function, *args, **kwargs)
        else:
            value = function(*args, **kwargs)
        encoded, sent = wire.encode(value)
    except wire.Unsendable as error:
        return {"kind": "unsendable", "message": str(error)}, []
    except BaseException as error:  # the student's code may raise anything
        return {"kind": "raised", "importing": importing, "error": load.describe_exception(error, root)}, []
    return {"kind": "value", "value": encoded}, list(sent)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # no atexit handler and no thread of the student's runs after the last answer
