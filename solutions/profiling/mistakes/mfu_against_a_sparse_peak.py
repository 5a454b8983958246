"""The peak is the sparse one."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right

EXERCISE = "achieved_mfu"
HINT = "Headline peaks are those of sparse matrices, twice the dense ones. Yours are dense."
FAILS = (
    "test_model_flops_over_what_the_card_could_do",
    "test_all_steps_count_and_so_do_the_gaps",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    return right(events, model, gpu, dtype) / 2
