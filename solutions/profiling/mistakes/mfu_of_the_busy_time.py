"""The time is that in which the device is busy."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right
from ..intervals import busy_intervals
from ._steps import begin, is_step

EXERCISE = "achieved_mfu"
HINT = (
    "MFU is of the clock on the wall: a card that waits costs as much as one that works. Over the "
    "busy time alone a starved run looks good."
)
FAILS = (
    "test_model_flops_over_what_the_card_could_do",
    "test_all_steps_count_and_so_do_the_gaps",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    steps = [event for event in events if is_step(event)]
    start = min(map(begin, steps))
    end = max(begin(event) + round(1000 * event["dur"]) for event in steps)
    busy = sum(max(0, min(stop, end) - max(first, start)) for first, stop in busy_intervals(events))
    return right(events, model, gpu, dtype) * (end - start) / busy
