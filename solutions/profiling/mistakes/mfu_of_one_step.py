"""The FLOPs of one step are held against the time of all."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right
from ._steps import is_step

EXERCISE = "achieved_mfu"
HINT = (
    "The time is that of all steps of the trace, so the FLOPs are too: tokens_per_step times the "
    "number of steps."
)
FAILS = (
    "test_all_steps_count_and_so_do_the_gaps",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    return right(events, model, gpu, dtype) / len([event for event in events if is_step(event)])
