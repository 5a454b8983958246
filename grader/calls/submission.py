"""What tests hold: `submission.memory.parameter_count(model)` calls the student's function, wherever it runs."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from grader.calls.faults import Crashed, Fault, Raised, Tampered, TimedOut
from grader.calls.runner import Request, Runner, require
from grader.worker import wire
from specs.assignment import Assignment, Exercise, assignment
from specs.schema import SpecError

TOO_LARGE = "(too large to be compared with mistakes)"
RAISED = "(raised: no mistake explains this)"
# Comparing with mistakes walks through a value: a dozen of 600,000 parts kept the judge busy for 100 s.
_MAX_KEPT_WEIGHT = 16 << 20
_PART_WEIGHT = 1 << 10


@dataclass(frozen=True)
class Call:
    """One call that came back: the request and the value that the student's function returned, or TOO_LARGE."""

    request: Request
    got: Any

    @cached_property
    def key(self) -> str:
        """Names the call by function and arguments."""
        request = self.request
        return sha256(
            wire.canonical([request.function, list(request.args), dict(request.kwargs)])
        ).hexdigest()[:24]

    @cached_property
    def value(self) -> bytes:
        """What came back, in canonical form."""
        return wire.canonical(self.got)


def _weight(value: Any) -> int:
    """Bytes of texts, arrays and tensors, and a kibibyte for each part or field; not counted on above the limit."""
    weight, queue = 0, [value]
    for part in queue:
        if isinstance(part, BaseModel):
            part = vars(part)  # its fields; dict() would take a field called keys for the method
        if isinstance(part, list | tuple | dict):
            weight += _PART_WEIGHT * len(part)
            if weight > _MAX_KEPT_WEIGHT:
                break
            queue += [*part, *part.values()] if isinstance(part, dict) else part
        else:
            weight += len(part) if isinstance(part, str | bytes) else getattr(part, "nbytes", 0)
    return weight


class Submission:
    """One student's work behind a runner; remembers the calls, for hints, and the deaths, to stop in time."""

    deaths_before_giving_up = 2

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.exercise_id = ""
        """The exercise of the check that runs now, `memory.parameter_count`."""
        self.calls: list[Call] = []
        """Calls of the check that runs now."""
        self.calls_by_exercise: dict[str, list[Call]] = {}
        self._deaths: Counter[str] = Counter()
        self._last_death: dict[str, Fault] = {}

    def begin_check(self, exercise_id: str) -> None:
        """Start a new check.

        Raises:
            Crashed, TimedOut, Tampered: two workers were lost in the exercise already, so its remaining checks
                are not run.
            NeedsTorch: before the check does, which makes its own inputs with torch.
        """
        self.exercise_id = exercise_id
        self.calls = []
        name, _, exercise = exercise_id.partition(".")
        require(assignment(name).exercise(exercise))
        if self._deaths[exercise_id] >= self.deaths_before_giving_up:
            last = self._last_death[exercise_id]
            raise type(last)(
                f"not run: {self.deaths_before_giving_up} checks of this exercise ended so already"
            )

    def __getattr__(self, name: str) -> "AssignmentCalls":
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return AssignmentCalls(self, assignment(name))
        except SpecError as error:
            raise AttributeError(str(error)) from None

    def run(self, request: Request, exercise: Exercise) -> Any:
        """Run one request for the current check and remember its value."""
        __tracebackhide__ = True
        require(exercise)
        try:
            got = self.runner.run(request)
        except (Crashed, TimedOut, Tampered) as death:
            self._deaths[self.exercise_id] += 1
            self._last_death[self.exercise_id] = death
            raise
        except Raised:
            self._remember(Call(request, RAISED))
            raise
        self._remember(Call(request, got if _weight(got) <= _MAX_KEPT_WEIGHT else TOO_LARGE))
        return got

    def _remember(self, call: Call) -> None:
        self.calls.append(call)
        self.calls_by_exercise.setdefault(self.exercise_id, []).append(call)


class AssignmentCalls:
    """The functions of one assignment: attribute access gives something to call."""

    def __init__(self, submission: Submission, spec: Assignment) -> None:
        self._submission = submission
        self._spec = spec

    def __getattr__(self, function: str) -> "FunctionCall":
        if function.startswith("_"):
            raise AttributeError(function)
        return FunctionCall(self._submission, self._spec, function)


class FunctionCall:
    """One function of a submission: call it, or have a trusted probe run it."""

    def __init__(self, submission: Submission, spec: Assignment, function: str) -> None:
        file = spec.file_of(function)
        if file is None:
            raise AttributeError(f"{spec.name}: no exercise asks for a function {function}")
        self._submission, self._spec, self._function, self._file = submission, spec, function, file

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._run("", args, kwargs)

    def probed(self, probe: str, *args: Any, **kwargs: Any) -> Any:
        """What the probe of that name reports when it runs the function."""
        __tracebackhide__ = True
        return self._run(probe, args, kwargs)

    def _run(self, probe: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        exercise = self._spec.exercise(self._submission.exercise_id.split(".", 1)[1])
        request = Request(self._spec.name, self._file, self._function, args, kwargs, probe)
        return self._submission.run(request, exercise)
