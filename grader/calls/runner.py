"""How the judge calls a submission: one interface, in this process (self-check) or over the wire (official)."""

import bdb
import builtins
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol

import pytest

from grader.calls.evidence import Metered, Sources, finding_fault, first_finding, watch
from grader.calls.faults import NeedsTorch, NeedsTriton, Raised, Todo
from grader.calls.local_lanes import LocalLanes
from grader.calls.ranked import RankedCall
from grader.kernels.evidence import CallEvidence
from grader.worker import load, verbs, wire
from grader.worker.probes import probe
from specs.assignment import Exercise

Verb = Literal["call", "gradients", "compiled", "on_ranks", "timed"]
Lane = Literal["plain", "torch", "interpret", "compile", "ranks", "timed"]
"""Kind of worker: an ordinary one, one that watches PyTorch, Triton's interpreter, the compiler, one that forks, one
that is called between the judge's clock ticks."""
IN_A_WORKER: tuple[Lane, ...] = ("interpret", "compile", "ranks")
"""What a self-check too runs in a worker: this process cannot do it."""


@dataclass(frozen=True)
class Request:
    """One call of a student's function, or of a trusted probe around it."""

    assignment: str
    file: str
    function: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    probe: str = ""
    """Name of a probe in `grader/worker/probes` that runs the function and reports what it measured."""
    verb: Verb = "call"
    lane: Lane = "plain"
    metered: bool = False
    """The answer is to be a Metered."""
    may_modify: tuple[str, ...] = ()
    """Names of the arguments that the function may change; in the interpreter, another one is a finding."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the verb: `grad_outputs` and `wrt` of gradients, `target` of compiled, `scenario` and `deadline_s` of
    on_ranks, whose args are a tuple for each rank."""


class Runner(Protocol):
    """Runs requests and raises a Fault when there is no value."""

    isolation: str

    def require_file(self, assignment: str, file: str) -> None:
        """Raise Todo when the submission has no such file."""

    def run(self, request: Request) -> Any:
        """Return what the function returned."""

    def close(self) -> None:
        """End whatever runs, leave nothing behind."""


def require(exercise: Exercise) -> None:
    """Raise NeedsTorch or NeedsTriton when the exercise needs it and this Python has none."""
    needs = {*exercise.needs, *(["torch"] if {"triton", "ranks"} & {*exercise.needs} else [])}
    if "triton" in needs and not sys.platform.startswith("linux"):
        raise NeedsTriton("needs Linux: triton has no package for this system; a container or Colab will do")
    if "ranks" in needs and sys.platform == "win32":
        raise NeedsTorch(
            "needs Linux or macOS: ranks do not start on Windows; WSL, a container or Colab will do"
        )
    for library, missing in (("torch", NeedsTorch), ("triton", NeedsTriton)):
        if library in needs and importlib.util.find_spec(library) is None:
            raise missing(f"needs {library}, which is not installed here: pip install -e '.[kernels]'")


STOPS = (KeyboardInterrupt, bdb.BdbQuit, pytest.exit.Exception)
"""What the person at the keyboard raises, with Ctrl-C or from a debugger: no answer of the submission."""


@dataclass(frozen=True)
class OtherFile:
    """Stands for the function of the same name in another file of the assignment, `mistakes/no_rescale.py`."""

    file: str


class Lanes(Protocol):
    """Runs requests whose lane is not the plain one."""

    def run(self, request: Request) -> Any:
        """Return what the function returned, or what was seen of it."""

    def close(self) -> None:
        """End the workers."""


class LocalRunner:
    """Calls the submission in this process, so that breakpoints work. For self-checks and trusted code only.

    What needs a lane, a Triton kernel or a report on one, is run in a worker: this process cannot be turned into
    an interpreter, and a second one that compiles is needed as well.
    """

    isolation = "local"

    def __init__(
        self,
        root: Path,
        overrides: Mapping[tuple[str, str], Any] | None = None,
        lanes: Lanes | None = None,
    ) -> None:
        self.root = root
        self.overrides = dict(overrides or {})
        """Functions that stand in for the submission's own, by (assignment, function); or OtherFile."""
        self._given_lanes = lanes  # of the caller, who closes them
        self._own_lanes: Lanes | None = None

    def require_file(self, assignment: str, file: str) -> None:
        """Raise Todo when the submission has no such file."""
        if not (self.root / assignment / file).is_file():
            raise Todo(f"no file {assignment}/{file} here")

    def run(self, request: Request) -> Any:
        """Call the function on decoded copies of the arguments, as a worker would get them."""
        __tracebackhide__ = True  # of a failure, pytest shows the test's line and the student's
        override = self.overrides.get((request.assignment, request.function))
        if isinstance(override, OtherFile):
            request, override = replace(request, file=override.file), None
        if request.lane in IN_A_WORKER and override is None:
            return self._lanes().run(request)
        if request.lane == "ranks":
            return _constant_on_ranks(request, override)
        function = override if override is not None else self._function(request)
        evidence = CallEvidence()
        given: Any = wire.decode(*wire.encode((request.args, dict(request.kwargs), dict(request.options))))
        args, kwargs, options = given
        try:
            if request.probe:
                value = probe(request.probe)(function, *args, **kwargs)
            else:
                prepared, args, kwargs = verbs.prepare(
                    request.verb, verbs.callable_of(function), args, kwargs, options
                )
                if request.lane == "torch":
                    value, evidence = watch(prepared, args, kwargs, request.may_modify, self.root)
                else:
                    value = prepared(*args, **kwargs)
        except STOPS:
            raise
        except BaseException as error:  # a submission may raise anything, SystemExit included
            fault = raised(request, load.describe_exception(error, self.root))
            raise fault.with_traceback(self._own_frames(error)) from None
        try:
            value = wire.decode(*wire.encode(value))
        except wire.Unsendable as error:
            raise Raised(f"{request.function} {error}") from None
        if request.verb == "compiled":  # an override, which launches nothing
            return ()
        finding = first_finding(evidence, request.may_modify, raised_too=False)
        if finding is not None:
            raise finding_fault(request.function, finding, Sources(self.root))
        return Metered(value, evidence) if request.metered else value

    def run_uncopied(self, request: Request) -> Any:
        """Call the function on the arguments themselves, which may be more than the wire takes; only to show."""
        function = self._function(request)
        try:
            return function(*request.args, **request.kwargs)
        except STOPS:
            raise
        except BaseException as error:  # a submission may raise anything, SystemExit included
            fault = raised(request, load.describe_exception(error, self.root))
            raise fault.with_traceback(self._own_frames(error)) from None

    def function(self, request: Request) -> Callable[..., Any]:
        """The function itself, for who calls it between clock ticks; raises as `run` does for what cannot be had."""
        found: Callable[..., Any] = self._function(request)
        return found

    def close(self) -> None:
        """Forget the submission's modules and end its workers."""
        load.unload(self.root)
        if self._own_lanes is not None:
            self._own_lanes.close()
            self._own_lanes = None

    def _lanes(self) -> Lanes:
        if self._given_lanes is not None:
            return self._given_lanes
        if self._own_lanes is None:
            self._own_lanes = LocalLanes(self.root)
        return self._own_lanes

    def _own_frames(self, error: BaseException) -> TracebackType | None:
        """The traceback from the submission's first frame on: a debugger then stops where the student wrote."""
        top = os.path.join(os.path.abspath(self.root), "")
        frames = error.__traceback__
        while frames is not None and not frames.tb_frame.f_code.co_filename.startswith(top):
            frames = frames.tb_next
        return frames

    def _function(self, request: Request) -> Any:
        __tracebackhide__ = True
        self.require_file(request.assignment, request.file)
        try:
            module = load.load_module(self.root, request.assignment, request.file)
        except STOPS:
            raise
        except BaseException as error:  # importing runs the student's code, which may raise anything
            fault = raised(request, load.describe_exception(error, self.root), importing=True)
            raise fault.with_traceback(self._own_frames(error)) from None
        function = getattr(module, request.function, None)
        if not callable(function):
            raise Raised(missing_function(request))
        return function


def _constant_on_ranks(request: Request, override: Any) -> RankedCall:
    """What a function that returns one value whatever it is given would return on ranks, where it is merely called."""
    if request.options["scenario"] != "call":
        raise Raised(f"{request.function} raised TypeError: a constant does nothing else")
    value = override()
    size = len(request.args)
    return RankedCall(value if isinstance(value, tuple) and len(value) == size else (value,) * size)


def missing_function(request: Request) -> str:
    """The message for a file that has lost its function."""
    return f"{request.file} has no function {request.function}: keep the stub's name"


def raised(
    request: Request, description: Mapping[str, Any], importing: bool = False, rank: int | None = None
) -> Raised | Todo:
    """The fault for an exception of the student's code, on `rank` where given, from load.describe_exception's dict."""
    if description.get("is_todo") and not importing:
        return Todo("")
    frames = description.get("frames") or []
    where = ""
    if frames:
        file, line, source = frames[-1]
        where = f" at {file}, line {line}" + (f": {source}" if source else "")
    message = (
        f"{description['type']}: {description['message']}" if description["message"] else description["type"]
    )
    who = request.function if rank is None else f"{request.function}: rank {rank}"
    what = f"{request.file} cannot be imported:" if importing else f"{who} raised"
    # The text is the submission's, and so is the name of a class of its own.
    known = (
        description["type"]
        if isinstance(getattr(builtins, description["type"], None), type)
        else "an exception"
    )
    # A line of a file of many lines could tell an input as well; importing has seen none yet.
    place = where if importing else ""
    return Raised(f"{what} {message}{where}", hidden_message=f"{what} {known}{place}")
