"""The peak is that of bf16, whatever the format."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right

EXERCISE = "achieved_mfu"
HINT = "A card has a peak for each format: fp32 has a fraction of that of bf16, and fp8 twice as much."
FAILS = (
    "test_model_flops_over_what_the_card_could_do",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    return right(events, model, gpu, "bf16")
