"""The worker's loop: limits first, then answers the judge's requests one by one. It returns values, never verdicts.

Started as a script inside the staged kit: `serve.py --wire FD --site DIR --submission DIR --limits JSON [--lane NAME]
[--shared FD]`.
"""

import argparse
import json
import os
import socket
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _rooflab_worker.lanes import Lane
    from _rooflab_worker.seal import SealedProbe

KIT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Set up and serve until the judge closes the wire."""
    parser = argparse.ArgumentParser()
    for name in ("--wire", "--site", "--submission", "--limits"):
        parser.add_argument(name, required=True)
    parser.add_argument("--lane", default="plain")
    parser.add_argument("--shared", type=int, help="descriptor of the memory for outputs of timed calls")
    parser.add_argument("--rank", default="", help="which rank of a call on ranks to be, instead of a worker")
    told = parser.parse_args()
    if told.lane == "interpret":
        os.environ["TRITON_INTERPRET"] = "1"  # triton reads it when a kernel is decorated, and at import
    _set_path(told.site)
    if told.rank:  # within the limits of the worker that started it
        from _rooflab_worker.ranks import starting

        starting.be_rank(json.loads(told.rank), Path(told.submission))

    from _rooflab_worker import limits

    limits.apply(told.limits)
    with socket.socket(fileno=int(told.wire)) as wire_socket:
        _serve(wire_socket, Path(told.submission), told.lane, told.shared)


def _set_path(site: str) -> None:
    """Standard library, kit, libraries; the loader appends the submission after them."""
    standard = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    dynamic = [entry for entry in sys.path if entry.endswith("lib-dynload")]
    sys.path[:] = [*dict.fromkeys([*standard, *dynamic]), str(KIT), site]


def _serve(wire_socket: socket.socket, root: Path, lane_name: str, shared: int | None) -> None:
    from _rooflab_worker import wire

    sealed: dict[str, SealedProbe] = {}
    lane: Lane | None = None
    problem = ""
    if lane_name != "plain":
        from _rooflab_worker import lanes

        try:
            lane = lanes.set_up(lane_name, root, (wire_socket.fileno(),), shared)
        except (
            Exception
        ) as error:  # a triton that cannot be mended, or that does not import: the machine's fault
            problem = f"{type(error).__name__}: {error}"[:500]
    # The judge's clock for the submission starts here.
    wire.send_frame(wire_socket, {"kind": "ready", "problem": problem})
    while True:
        try:
            request, storages = wire.receive_frame(wire_socket)
        except wire.WireError:
            return
        reply: dict[str, Any] = {"id": request.get("id")}
        sent: list[Any] = []
        try:
            answer, sent = _answer(request, storages, root, sealed, lane)
            if any(each.changed() for each in sealed.values()) or (lane is not None and lane.changed()):
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
    request: dict[str, Any],
    storages: list[Any],
    root: Path,
    sealed: "dict[str, SealedProbe]",
    lane: "Lane | None",
) -> tuple[dict[str, Any], list[Any]]:
    """One request to (reply, storages).

    It is {verb: load | call | gradients | compiled | assemble | on_ranks | stage | timed | captured, probe, metered,
    assignment, file, function, arguments}.

    A probe that is asked for the first time is added to `sealed`, if possible before the student's file is imported.
    """
    from _rooflab_worker import load, seal, verbs, wire

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
        args, kwargs, options = wire.decode(request["arguments"], storages)
        if request["probe"]:
            value = sealed[request["probe"]].run(function, *args, **kwargs)
        elif lane is not None:
            return _in_lane(lane, request, verbs.callable_of(function), (args, kwargs, options), root)
        else:
            prepared, args, kwargs = verbs.prepare(
                request["verb"], verbs.callable_of(function), args, kwargs, options
            )
            value = prepared(*args, **kwargs)
        encoded, sent = wire.encode(value)
    except wire.Unsendable as error:
        return {"kind": "unsendable", "message": str(error)}, []
    except BaseException as error:  # the student's code may raise anything
        return {"kind": "raised", "importing": importing, "error": load.describe_exception(error, root)}, []
    return {"kind": "value", "value": encoded}, list(sent)


def _in_lane(
    lane: "Lane", request: dict[str, Any], function: Any, given: tuple[Any, Any, Any], root: Path
) -> tuple[dict[str, Any], list[Any]]:
    """The reply to a call in a lane: its value, what was seen, and what it raised."""
    from _rooflab_worker import lanes, load, wire

    try:
        done = lane.run(request, function, *given)
    except lanes.ReportTooLarge as error:
        return {"kind": "unsendable", "message": str(error)}, []
    except (
        Exception
    ) as error:  # of the kit's own: what the student's code raises comes back as a part of `done`
        described = load.describe_exception(error, KIT)
        return {"kind": "broken", "message": f"{described['type']}: {described['message']}"}, []
    encoded, sent = wire.encode((done.value, done.report))
    reply: dict[str, Any] = {"kind": "recorded", "value": encoded, "needs_gpu": done.needs_gpu}
    if done.error is not None:
        reply["error"] = load.describe_exception(done.error, root)
    return reply, list(sent)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # no atexit handler and no thread of the student's runs after the last answer
