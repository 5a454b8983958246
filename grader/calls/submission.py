"""What tests hold: `submission.memory.parameter_count(model)` calls the student's function, wherever it runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

from pydantic import BaseModel

from grader.calls.evidence import Metered
from grader.calls.faults import (
    Crashed,
    Fault,
    KernelFinding,
    NeedsGpu,
    Raised,
    RanksDisagree,
    Slow,
    Tampered,
    TimedOut,
)
from grader.calls.ranked import RankedCall
from grader.calls.runner import Lane, Request, Runner, Verb, require
from grader.clock.verdict import TimingVerdict
from grader.kernels.evidence import CompiledLaunch
from grader.outcome import Outcome
from grader.worker import wire
from specs.assignment import Assignment, Exercise, assignment
from specs.schema import SpecError

TOO_LARGE = "(too large to be compared with mistakes)"
RAISED = "(raised: no mistake explains this)"


def finding_value(found: Fault) -> str:
    """What stands for the value of a call that ended in a finding: a mistake that ends so explains it."""
    return f"({found.symptom})"


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
        """Names the call by function, arguments and verb; metered or not, it is the same call."""
        request = self.request
        named: list[Any] = [request.function, list(request.args), dict(request.kwargs)]
        if request.verb != "call":
            named += [request.verb, dict(request.options)]
        return sha256(wire.canonical(named)).hexdigest()[:24]

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


class Timer(Protocol):
    """Times functions of the submission; `grader.clock.timer` does."""

    def time(
        self, spec: Assignment, exercise: Exercise, file: str, function: str, direction: str, check: str
    ) -> TimingVerdict:
        """The verdict on one function; raises NeedsGpu, or a Fault of the submission's."""


class Submission:
    """One student's work behind a runner; remembers the calls, for hints, and the deaths, to stop in time."""

    deaths_before_giving_up = 2

    def __init__(self, runner: Runner, timer: Timer | None = None) -> None:
        """`timer` times functions on a GPU; None where there is none."""
        self.runner = runner
        self._timer = timer
        self.timing: TimingVerdict | None = None
        """What was measured in the check that runs now."""
        self._check = ""
        self.exercise_id = ""
        """The exercise of the check that runs now, `memory.parameter_count`."""
        self.calls: list[Call] = []
        """Calls of the check that runs now."""
        self.calls_by_exercise: dict[str, list[Call]] = {}
        self._deaths: Counter[str] = Counter()
        self._last_death: dict[str, Fault] = {}

    def begin_check(self, exercise_id: str, check: str = "") -> None:
        """Start a new check, called `check`.

        Raises:
            Crashed, TimedOut, Tampered: two workers were lost in the exercise already, so its remaining checks
                are not run.
            NeedsTorch: before the check does, which makes its own inputs with torch.
            Todo: its file is not there, so that the check need not make inputs and references for nothing.
        """
        self.exercise_id, self._check = exercise_id, check
        self.calls = []
        self.timing = None
        name, _, exercise = exercise_id.partition(".")
        spec = assignment(name).exercise(exercise)
        require(spec)
        self.runner.require_file(name, spec.file)
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
            if death.symptom:
                self._remember(Call(request, finding_value(death)))
            self._deaths[self.exercise_id] += 1
            self._last_death[self.exercise_id] = death
            raise
        except (KernelFinding, RanksDisagree) as found:
            self._remember(Call(request, finding_value(found)))
            raise
        except Raised:
            self._remember(Call(request, RAISED))
            raise
        if request.verb != "compiled":  # what a compiler says of a function names no mistake
            value = got.value if isinstance(got, Metered) else got
            value = value.values if isinstance(value, RankedCall) else value
            self._remember(Call(request, value if _weight(value) <= _MAX_KEPT_WEIGHT else TOO_LARGE))
        return got

    def time(self, spec: Assignment, exercise: Exercise, file: str, function: str, direction: str) -> None:
        """Time one function for the current check and remember the verdict; raises as `FunctionCall.timed` does."""
        __tracebackhide__ = True
        if self._timer is None:
            shapes = (
                [each for each in exercise.timing.shapes if each.direction == direction]
                if exercise.timing
                else []
            )
            raise NeedsGpu(
                f"needs a GPU, to time {len(shapes)} shape{'s' * (len(shapes) != 1)} in an official run: "
                "the points stay pending"
            )
        # Its other workers would run on meanwhile: they end, and start again where a later check needs one.
        self.runner.close()
        try:
            self.timing = self._timer.time(spec, exercise, file, function, direction, self._check)
        except (Crashed, TimedOut, Tampered) as death:
            self._deaths[self.exercise_id] += 1
            self._last_death[self.exercise_id] = death
            raise
        if self.timing.check_outcome is not Outcome.PASSED:
            raise Slow(self.timing)

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

    def gradients(
        self, *args: Any, grad_outputs: Any = None, wrt: Sequence[int | str] | None = None, **kwargs: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        """The value and the gradients of `sum(grad_outputs * value)` by the arguments.

        Args:
            args, kwargs: of the function, or of `apply` where it is a `torch.autograd.Function`.
            grad_outputs: a tensor like the first output, ones by default; or a tuple with one for each output,
                None for those that do not matter.
            wrt: positions and names of arguments; every tensor of floats by default.

        Returns:
            (value, gradients): both detached; a gradient is None where the value does not depend on the argument.
        """
        __tracebackhide__ = True
        options = {"grad_outputs": grad_outputs, "wrt": wrt if wrt is None else tuple(wrt)}
        value: tuple[Any, tuple[Any, ...]] = self._run("", args, kwargs, verb="gradients", options=options)
        return value

    def metered(self, *args: Any, may_modify: Sequence[str] = (), **kwargs: Any) -> Metered:
        """The value, and what was seen of kernels and of PyTorch while it was made.

        `may_modify` are names of the arguments that the function may change.
        """
        __tracebackhide__ = True
        seen: Metered = self._run("", args, kwargs, metered=True, may_modify=tuple(may_modify))
        return seen

    def metered_gradients(
        self, *args: Any, grad_outputs: Any = None, wrt: Sequence[int | str] | None = None, **kwargs: Any
    ) -> Metered:
        """Like `gradients`, with (value, gradients) as the value of what is returned."""
        __tracebackhide__ = True
        options = {"grad_outputs": grad_outputs, "wrt": wrt if wrt is None else tuple(wrt)}
        seen: Metered = self._run("", args, kwargs, verb="gradients", options=options, metered=True)
        return seen

    def compiled(self, *args: Any, target: str = "sm_90", **kwargs: Any) -> tuple[CompiledLaunch, ...]:
        """Every launch of a call, compiled for a GPU that need not be there; nothing is run."""
        __tracebackhide__ = True
        launches: tuple[CompiledLaunch, ...] = self._run(
            "", args, kwargs, verb="compiled", options={"target": target}
        )
        return launches

    def on_ranks(
        self,
        args: Sequence[tuple[Any, ...]],
        *,
        scenario: str = "call",
        deadline_s: float = 10.0,
        **shared_kwargs: Any,
    ) -> RankedCall:
        """The function on `len(args)` ranks, each a process, joined by a process group.

        Args:
            args: positional arguments of each rank.
            scenario: module of `grader/ranks/scenarios` that runs on every rank; "call" calls the function with
                `group=` and returns what it returns.
            deadline_s: from the moment when the ranks have joined.
            shared_kwargs: of every rank.

        Raises:
            Raised: a rank raised.
            RanksDisagree: ranks called different collectives, or a send has no recv.
            RankDied, RanksHang: a rank died; ranks wait for what never comes.
        """
        __tracebackhide__ = True
        options = {"scenario": scenario, "deadline_s": float(deadline_s)}
        seen: RankedCall = self._run("", tuple(args), shared_kwargs, verb="on_ranks", options=options)
        return seen

    def timed(self, direction: str) -> None:
        """Time the function on the shapes of the exercise's spec that have this direction.

        Raises:
            Slow: it earns less than all of the points, or nobody can say; the verdict is `Submission.timing`.
            NeedsGpu: there is none here, or none with a threshold that may decide points.
            Fault: what it did wrong in a timed call.
        """
        __tracebackhide__ = True
        exercise = self._spec.exercise(self._submission.exercise_id.split(".", 1)[1])
        self._submission.time(self._spec, exercise, self._file, self._function, direction)

    def _run(
        self,
        probe: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        verb: Verb = "call",
        options: Mapping[str, Any] | None = None,
        metered: bool = False,
        may_modify: tuple[str, ...] = (),
    ) -> Any:
        __tracebackhide__ = True
        exercise = self._spec.exercise(self._submission.exercise_id.split(".", 1)[1])
        lane: Lane = "plain"
        if verb == "compiled":
            lane = "compile"
        elif verb == "on_ranks":
            lane = "ranks"
        elif "triton" in exercise.needs:
            lane = "interpret"
        elif metered:
            lane = "torch"
        request = Request(
            self._spec.name,
            self._file,
            self._function,
            args,
            kwargs,
            probe,
            verb=verb,
            lane=lane,
            metered=metered,
            may_modify=may_modify,
            options=options or {},
        )
        return self._submission.run(request, exercise)
