"""What a worker sets up before a submission's code is there: the interpreter and its recorder, or the compiler.

A lane is a kind of worker: one process cannot both interpret Triton kernels and compile them. What a lane measures
was measured beside the student's code; `changed` tells whether that code tampered with it, as far as it can be told.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import load, seal, verbs

REPORT_BYTES = 8 << 20
"""Most that one call may report of its kernels: the PTX of a large kernel takes 0.2 MB."""
LAUNCHES = 256
"""Most launches that are compiled in one call, autotuned configs counted each."""


@dataclass(frozen=True)
class Done:
    """One call that ended in a lane."""

    value: Any = None
    report: bytes = b""
    """CallEvidence, a list of CompiledLaunch, or a RanksReport, as JSON."""
    error: BaseException | None = None
    """What the student's code raised; inside a kernel, what was raised there."""
    needs_gpu: str = ""
    """What the interpreter cannot emulate, where that is what ended the call."""


@dataclass(frozen=True)
class Lane:
    """A lane that is set up."""

    run: Callable[[dict[str, Any], Callable[..., Any], Sequence[Any], Mapping[str, Any], Any], Done]
    """(the request's header, the student's function, args, kwargs, options of the verb) to what came of it."""
    changed: Callable[[], bool]


class ReportTooLarge(ValueError):
    """A call launched more than can be reported."""


def set_up(name: str, root: Path, private: Sequence[int] = (), shared: int | None = None) -> Lane:
    """Import and install what the lane needs, and seal it.

    Args:
        name: "torch" (what PyTorch did), "interpret", "compile", "ranks" or "timed".
        root: the submission; places in its files are told relative to it.
        private: descriptors of this process that no rank may have.
        shared: descriptor of the memory that a timed call's outputs go to.

    Raises:
        UnsupportedTriton: the installed triton cannot be mended.
        ImportError: torch or triton is missing.
    """
    if name == "ranks":
        run, changes = _ranks(root, private)
    elif name == "timed":
        run, changes = _timed(shared)
    else:
        run, changes = {"torch": _torch, "interpret": _interpret, "compile": _compile}[name](root)
    # Bound before the submission can put something else in the place of the method. A timed call is not looked at
    # so closely: that takes time on the judge's clock, and nothing that is measured there is believed.
    looks = changes if name == "timed" else (*changes, seal.seal_package(__package__).changed)

    def changed() -> bool:
        return any(look() for look in looks)

    return Lane(run, changed)


_Made = tuple[
    Callable[[dict[str, Any], Callable[..., Any], Sequence[Any], Mapping[str, Any], Any], Done],
    tuple[Callable[[], bool], ...],
]


def _interpret(root: Path) -> _Made:
    recorder, faults = _part("recorder"), _part("faults")
    recorder.install()
    call_recorded = recorder.call_recorded
    relative = relative_to(root)

    def run(
        header: dict[str, Any],
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Any,
    ) -> Done:
        prepared, given, named = verbs.prepare(header["verb"], function, args, kwargs, options)
        recorded = call_recorded(
            prepared,
            given,
            named,
            sanitize=True,
            may_modify=tuple(header["may_modify"]),
            root=str(root),
            given=options.get("grad_outputs") if header["verb"] == "gradients" else None,
        )
        evidence = recorded.evidence
        if not header["metered"]:  # findings decide, and that a kernel ran; the rest is not asked for
            bare = [launch.model_copy(update={"tensors": ()}) for launch in evidence.launches[:1]]
            evidence = evidence.model_copy(update={"launches": tuple(bare)})
        report = as_json(evidence.model_dump(), relative)
        error = _innermost(recorded.error)
        if isinstance(error, faults.KernelFault):
            error = None  # its finding is in the report
        if isinstance(error, faults.NeedsGpu):
            return Done(None, report, None, str(error))
        return Done(recorded.value if recorded.error is None else None, report, error)

    return run, (recorder.changed,)


def _compile(root: Path) -> _Made:
    compiled = _part("compiled")
    compile_call = compiled.compile_call
    relative = relative_to(root)
    cache = Path(os.environ.get("TRITON_CACHE_DIR", "")) / "launches" if _has_cache() else None

    def run(
        header: dict[str, Any],
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Any,
    ) -> Done:
        done = compile_call(function, tuple(args), dict(kwargs), target=options["target"], cache=cache)
        if len(done.launches) > LAUNCHES:
            raise ReportTooLarge(
                f"launches {len(done.launches):,} kernels, configs counted each; at most {LAUNCHES} are compiled"
            )
        report = as_json([launch.model_dump() for launch in done.launches], relative)
        # Nothing ran, so a function that looks at its results may raise after its launches: they count.
        return Done(None, report, None if done.launches else _innermost(done.error))

    return run, (compiled.changed,)


def _has_cache() -> bool:
    return bool(os.environ.get("TRITON_CACHE_DIR"))


def _torch(root: Path) -> _Made:
    call_watched = _part("torch_watch").call_watched
    relative = relative_to(root)
    tampered = []

    def run(
        header: dict[str, Any],
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Any,
    ) -> Done:
        prepared, given, named = verbs.prepare(header["verb"], function, args, kwargs, options)
        try:
            value, evidence, intact = call_watched(
                prepared, given, named, may_modify=tuple(header["may_modify"]), root=str(root)
            )
        except Exception as error:  # the student's code may raise anything; it is part of the answer
            return Done(None, b"{}", error)
        if not intact:
            tampered.append(True)
        return Done(value, as_json(evidence.model_dump(), relative))

    return run, (lambda: bool(tampered),)


def _ranks(root: Path, private: Sequence[int]) -> _Made:
    import torch

    torch.set_num_threads(1)  # a fork of a process whose pool of threads has worked hangs in the child
    starting = importlib.import_module(".ranks.starting", __package__)
    teams = importlib.import_module(".ranks.team", __package__)
    scenarios = starting.scenarios()
    sealed = seal.seal_package(__package__)
    importlib.import_module(".ranks.orphans", __package__).adopt()
    evidence = importlib.import_module(".ranks.evidence", __package__)
    assemble, lost, report_of, changed = teams.assemble, teams.RankLost, evidence.RanksReport, sealed.changed
    forked, spawned, forks, command = starting.forked, starting.spawned, starting.FORKS, tuple(sys.orig_argv)
    waiting: list[Any] = []

    def run(
        header: dict[str, Any],
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Any,
    ) -> Done:
        """The judge asks twice: first the ranks assemble, then they get what no other rank may find in its memory."""
        if header["verb"] == "assemble":
            while waiting:
                waiting.pop().close()
            start = (
                forked(function, root, scenarios, changed)
                if forks
                else spawned(command, header["assignment"], header["file"], header["function"])
            )
            try:
                waiting.append(assemble(options["size"], root, start, private))
            except lost as error:
                return Done(None, as_json(report_of(fault=error.fault).model_dump(), lambda tree: tree))
            return Done(None, b"")
        team = waiting.pop()
        try:
            outcome = team.run(options["scenario"], args, kwargs, options["deadline_s"])
        finally:
            team.close()
        return Done(outcome.values, as_json(outcome.report.model_dump(), lambda tree: tree))

    return run, ()


def _timed(shared: int | None) -> _Made:
    timed = importlib.import_module(".timed", __package__)
    call_watched = _part("torch_watch").call_watched

    def watched(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, tuple[str, ...], bool]:
        value, evidence, intact = call_watched(function, args, {})
        return value, tuple(evidence.torch.ops), intact

    desk, answer = timed.Desk(shared, watched), timed.answer

    def run(
        header: dict[str, Any],
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Any,
    ) -> Done:
        try:
            return Done(answer(desk, header["verb"], function, kwargs, options))
        except BaseException as error:  # the student's code may raise anything; it is part of the answer
            return Done(error=error)

    return run, (lambda: not desk.intact,)


def _part(name: str) -> Any:
    return importlib.import_module(f".kernels.{name}", __package__)


def _innermost(error: BaseException | None) -> BaseException | None:
    """What was raised inside a kernel, where triton has wrapped it in an error of its own."""
    while error is not None and type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        error = error.__cause__
    return error


def relative_to(root: Path) -> Callable[[Any], Any]:
    """A function that makes the places in plain data relative to the submission, and "" outside of it."""

    def relative(tree: Any) -> Any:
        if isinstance(tree, dict):
            if tree.keys() == {"file", "line", "source"}:
                return tree | {"file": load.own_file(tree["file"], root) or ""}
            return {name: relative(part) for name, part in tree.items()}
        if isinstance(tree, list | tuple):
            return [relative(part) for part in tree]
        return tree

    return relative


def as_json(report: Any, relative: Callable[[Any], Any]) -> bytes:
    """Plain data as JSON, with its places made relative.

    Raises:
        ReportTooLarge: it is more than REPORT_BYTES.
    """
    text = json.dumps(relative(report), default=repr).encode()
    if len(text) > REPORT_BYTES:
        raise ReportTooLarge(f"launches too many kernels to be reported ({len(text) >> 20} MB)")
    return text
