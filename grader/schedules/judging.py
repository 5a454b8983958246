"""What a check asks of a student's schedule: that it can run, has the bubble and holds the activations of its kind."""

from collections.abc import Sequence
from typing import Any, Literal

from grader.checks.expect import Expect
from grader.schedules.simulator import BadSchedule, Schedule, simulate

ScheduleKind = Literal["gpipe", "1f1b"]
_CLOSE = 1e-9


def wanted_peaks(kind: ScheduleKind, stages: int, microbatches: int) -> tuple[int, ...]:
    """Microbatches in flight on each stage: all of them under GPipe, the stages from here on under 1F1B.

    No schedule that is as fast as 1F1B holds fewer than 1F1B: when the first backward of stage s can end at the
    earliest, stages - s forwards must have begun there for the last stage never to wait. So a peak that is not
    above it is equal to it. Under GPipe a peak of all microbatches says that all forwards come first.
    """
    if kind == "gpipe":
        return (microbatches,) * stages
    return tuple(min(stages - stage, microbatches) for stage in range(stages))


def require(
    expect: Expect,
    entries: Any,
    kind: ScheduleKind,
    stages: int,
    microbatches: int,
    forward: float = 1,
    backward: float = 2,
) -> Schedule | None:
    """Fail the check unless `entries` are a schedule of this kind; any such schedule passes.

    In a hidden check messages name no stage, no microbatch and no time.
    """
    __tracebackhide__ = True
    case = "" if expect.hidden else f"{kind}, {stages} stages, {microbatches} microbatches: "
    try:
        schedule = simulate(entries, stages, microbatches, forward, backward)
    except BadSchedule as bad:
        expect.that(False, case + (bad.general if expect.hidden else bad.text), symptom=bad.symptom)
        return None
    shortest = (microbatches + stages - 1) * (forward + backward)
    too_long = schedule.makespan > shortest * (1 + _CLOSE)
    numbers = f" ({schedule.makespan:g}, and {shortest:g} is possible)"
    expect.that(
        not too_long,
        f"{case}it takes longer than it must{'' if expect.hidden else numbers}: stages wait more than while the "
        "pipeline fills and drains",
        symptom="schedule.too_long",
    )
    _require_peaks(expect, schedule.peak_activations, wanted_peaks(kind, stages, microbatches), kind, case)
    return schedule


def _require_peaks(
    expect: Expect, peaks: Sequence[int], wanted: Sequence[int], kind: ScheduleKind, case: str
) -> None:
    for stage, (peak, right) in enumerate(zip(peaks, wanted, strict=True)):
        where = "a stage" if expect.hidden else f"stage {stage}"
        counts = "" if expect.hidden else f" ({peak} microbatches, and {right} is what {kind} holds)"
        expect.that(
            peak >= right,
            f"{case}{where} begins a backward before its last forward{counts}: that is not GPipe",
            symptom="schedule.backward_among_forwards",
        )
        expect.that(
            peak <= right,
            f"{case}{where} holds more microbatches at one time than {kind} does{counts}",
            symptom="schedule.holds_too_many",
        )
