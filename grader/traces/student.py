"""The student's functions of the profiling assignment, called on a trace in this process, their answers checked."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.calls.faults import Fault, Todo
from grader.calls.runner import LocalRunner, Request
from grader.printable import printable
from grader.refusal import BadInput
from specs.assignment import assignment
from specs.gpu import Gpu
from specs.model import Model
from specs.profiling import Event, Remedy, StepBreakdown, TracedModel
from specs.terms import ParameterCount

ASSIGNMENT = "profiling"
CLASSES = ("matmul", "attention", "memory_bound", "copy", "communication")
Interval = tuple[int, int]
"""From begin to end, in nanoseconds."""


class Student:
    """The functions of one submission.

    Every method raises Todo where the function is still a stub, and BadInput where it raised or returned what cannot
    be shown; the message names the function.
    """

    def __init__(self, root: Path) -> None:
        self._runner = LocalRunner(root)
        self._classes: dict[tuple[str, bool], str] = {}

    def close(self) -> None:
        """Forget the submission's modules."""
        self._runner.close()

    def todo(self) -> list[str]:
        """A line for each function that the table needs and that is still to be written."""
        event: Event = {
            "ph": "X",
            "cat": "kernel",
            "name": "nvjet",
            "pid": 0,
            "tid": 7,
            "ts": 0.0,
            "dur": 1.0,
        }
        step = {**event, "cat": "user_annotation", "name": "ProfilerStep#1"}
        events = [{**event, "args": {}}, {**step, "args": {}}]
        names = [
            name for name in StepBreakdown.model_fields if name not in ("step", "duration_s", "matmul_s")
        ]
        one = StepBreakdown(step=1, duration_s=1e-6, matmul_s=1e-6, **dict.fromkeys(names, 0.0))
        needed: dict[str, tuple[Any, ...]] = {
            "classify_kernel": ("nvjet", {}),
            "busy_intervals": (events,),
            "step_breakdown": (events,),
            "remedy": (one,),
        }
        lines = []
        for function, args in needed.items():
            try:
                self._call(ASSIGNMENT, function, *args)
            except Todo:
                exercise = next(
                    each for each in assignment(ASSIGNMENT).exercises if function in each.functions
                )
                where = f"{ASSIGNMENT}/{exercise.file} (exercise {ASSIGNMENT}.{exercise.id})"
                lines.append(f"todo: write {function} in {where}, the table needs it")
        return lines

    def classify(self, event: Event) -> str:
        """The class of a kernel, copy or operator; asked once for a name."""
        key = (event["name"], "Collective name" in event["args"])
        if key not in self._classes:
            got = self._call(ASSIGNMENT, "classify_kernel", event["name"], event["args"])
            if not isinstance(got, str) or got not in CLASSES:
                raise BadInput(
                    f"classify_kernel returned {_shown(got)}: one of {', '.join(CLASSES)} is needed"
                )
            self._classes[key] = got
        return self._classes[key]

    def busy(self, events: Sequence[Event]) -> list[Interval]:
        """When the device was busy, in nanoseconds."""
        got = self._call(ASSIGNMENT, "busy_intervals", events)
        try:
            return [(int(begin), int(end)) for begin, end in got]
        except (TypeError, ValueError, OverflowError):
            raise BadInput(
                f"busy_intervals returned {_shown(got)}: pairs of nanoseconds are needed"
            ) from None

    def breakdown(self, events: Sequence[Event], step: int) -> StepBreakdown:
        """Where the time of one step went, of whose trace these are the events."""
        got = self._call(ASSIGNMENT, "step_breakdown", events)
        if not isinstance(got, list | tuple) or not all(isinstance(each, StepBreakdown) for each in got):
            raise BadInput("step_breakdown returned something else than a list of StepBreakdown")
        found: list[StepBreakdown] = [each for each in got if each.step == step]
        if len(got) != 1 or not found:
            numbers = ", ".join(str(each.step) for each in got[:5]) or "none"
            raise BadInput(f"step_breakdown returned steps {numbers} for the events of step {step} alone")
        for name, value in found[0]:
            if name != "step" and not _is_time(value):
                raise BadInput(f"step_breakdown: step {step}: {name} is {_shown(value)}: seconds are needed")
        return found[0]

    def remedy(self, breakdown: StepBreakdown) -> Remedy:
        """What to do about a step."""
        got = self._call(ASSIGNMENT, "remedy", breakdown)
        if not isinstance(got, Remedy) or not _is_time(got.share):
            raise BadInput(f"remedy returned {_shown(got)}: a Remedy with a share is needed")
        return got

    def mfu(
        self, events: Sequence[Event], model: Model, batch: int, sequence: int, card: Gpu, dtype: Any
    ) -> float:
        """The MFU of the traced steps; the parameters are those that the student's parameter_count counts."""
        count = self._call("memory", "parameter_count", model)
        if not isinstance(count, ParameterCount):
            raise BadInput(f"parameter_count returned {_shown(count)}: a ParameterCount is needed")
        # The head multiplies by the token embedding where it has no matrix of its own.
        in_matmuls = int(count.attention + count.mlp + (count.output_head or count.token_embedding))
        hidden = model.attention.heads * getattr(model.attention, "head_dim", 0) or model.hidden
        traced = TracedModel(
            parameters=in_matmuls,
            layers=model.layers,
            hidden=hidden,
            sequence=sequence,
            tokens_per_step=batch * sequence,
        )
        got = self._call(ASSIGNMENT, "achieved_mfu", events, traced, card, dtype)
        if not _is_time(got) or got < 0:
            raise BadInput(f"achieved_mfu returned {_shown(got)}: a number from 0 upwards is needed")
        return float(got)

    def _call(self, name: str, function: str, *args: Any) -> Any:
        file = assignment(name).file_of(function)
        assert file is not None, f"no exercise asks for {function}"
        try:
            return self._runner.run_uncopied(Request(name, file, function, args))
        except Todo:
            raise
        except Fault as fault:
            raise BadInput(printable(fault.message, 400)) from fault


def _is_time(value: object) -> bool:
    """A finite number that a float holds."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e30
        and math.isfinite(value)
    )


def _shown(value: object) -> str:
    """A value in a message; one whose text cannot be made is named by its type."""
    try:
        return printable(repr(value), 60)
    except Exception:  # repr is the student's code, or an integer of too many digits
        return f"a {type(value).__name__}"
