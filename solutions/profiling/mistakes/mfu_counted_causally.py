"""Attention is counted causally."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right

EXERCISE = "achieved_mfu"
HINT = (
    "PaLM's convention counts every pair of query and key, masked ones too: 12 · layers · hidden · "
    "sequence, and not 6."
)
FAILS = (
    "test_model_flops_over_what_the_card_could_do",
    "test_all_steps_count_and_so_do_the_gaps",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    attention = 12 * model.layers * model.hidden * model.sequence
    whole = 6 * model.parameters + attention
    return right(events, model, gpu, dtype) * (whole - attention / 2) / whole
