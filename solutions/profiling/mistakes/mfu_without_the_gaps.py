"""The gaps between steps are not on the clock."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right
from ._steps import begin, is_step

EXERCISE = "achieved_mfu"
HINT = (
    "Between two steps the run goes on, and so does the bill for the card: take the time from the "
    "first step's start to the last one's end."
)
FAILS = (
    "test_all_steps_count_and_so_do_the_gaps",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    steps = sorted((event for event in events if is_step(event)), key=begin)
    at = begin(steps[0])
    joined = []
    for event in steps:
        joined.append({**event, "ts": at / 1000})
        at += round(1000 * event["dur"])
    return right(joined, model, gpu, dtype)
