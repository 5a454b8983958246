"""How the judge calls a submission: one interface, in this process (self-check) or over the wire (official)."""

import bdb
import builtins
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import pytest

from grader.calls.faults import NeedsTorch, Raised, Todo
from grader.worker import load, wire
from grader.worker.probes import probe
from specs.assignment import Exercise


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


class Runner(Protocol):
    """Runs requests and raises a Fault when there is no value."""

    isolation: str

    def run(self, request: Request) -> Any:
        """Return what the function returned."""

    def close(self) -> None:
        """End whatever runs, leave nothing behind."""


def require(exercise: Exercise) -> None:
    """Raise NeedsTorch when the exercise needs torch and this Python has none."""
    if "torch" in exercise.needs and importlib.util.find_spec("torch") is None:
        raise NeedsTorch("needs torch, which is not installed here: pip install -e '.[kernels]'")


STOPS = (KeyboardInterrupt, bdb.BdbQuit, pytest.exit.Exception)
"""What the person at the keyboard raises, with Ctrl-C or from a debugger: no answer of the submission."""


class LocalRunner:
    """Calls the submission in this process, so that breakpoints work. For self-checks and trusted code only."""

    isolation = "local"

    def __init__(self, root: Path, overrides: Mapping[tuple[str, str], Any] | None = None) -> None:
        self.root = root
        self.overrides = dict(overrides or {})
        """Functions that stand in for the submission's own, by (assignment, function)."""

    def run(self, request: Request) -> Any:
        """Call the function on decoded copies of the arguments, as a worker would get them."""
        __tracebackhide__ = True  # of a failure, pytest shows the test's line and the student's
        function = self._function(request)
        args: Any = wire.decode(*wire.encode(request.args))
        kwargs: Any = wire.decode(*wire.encode(dict(request.kwargs)))
        try:
            if request.probe:
                value = probe(request.probe)(function, *args, **kwargs)
            else:
                value = function(*args, **kwargs)
        except STOPS:
            raise
        except BaseException as error:  # a submission may raise anything, SystemExit included
            fault = raised(request, load.describe_exception(error, self.root))
            raise fault.with_traceback(self._own_frames(error)) from None
        try:
            return wire.decode(*wire.encode(value))
        except wire.Unsendable as error:
            raise Raised(f"{request.function} {error}") from None

    def close(self) -> None:
        """Forget the submission's modules."""
        load.unload(self.root)

    def _own_frames(self, error: BaseException) -> TracebackType | None:
        """The traceback from the submission's first frame on: a debugger then stops where the student wrote."""
        top = os.path.join(os.path.abspath(self.root), "")
        frames = error.__traceback__
        while frames is not None and not frames.tb_frame.f_code.co_filename.startswith(top):
            frames = frames.tb_next
        return frames

    def _function(self, request: Request) -> Any:
        __tracebackhide__ = True
        override = self.overrides.get((request.assignment, request.function))
        if override is not None:
            return override
        if not (self.root / request.assignment / request.file).is_file():
            raise Todo(f"no file {request.assignment}/{request.file} here")
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


def missing_function(request: Request) -> str:
    """The message for a file that has lost its function."""
    return f"{request.file} has no function {request.function}: keep the stub's name"


def raised(request: Request, description: Mapping[str, Any], importing: bool = False) -> Raised | Todo:
    """The fault for an exception that the student's code raised, from load.describe_exception's dict."""
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
    what = f"{request.file} cannot be imported:" if importing else f"{request.function} raised"
    # The text is the submission's, and so is the name of a class of its own.
    known = (
        description["type"]
        if isinstance(getattr(builtins, description["type"], None), type)
        else "an exception"
    )
    # A line of a file of many lines could tell an input as well; importing has seen none yet.
    place = where if importing else ""
    return Raised(f"{what} {message}{where}", hidden_message=f"{what} {known}{place}")
