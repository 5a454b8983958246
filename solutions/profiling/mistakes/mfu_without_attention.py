"""The attention term is left out."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right

EXERCISE = "achieved_mfu"
HINT = (
    "PaLM's convention adds 12 · layers · hidden · sequence FLOPs a token for attention's scores and values."
)
FAILS = (
    "test_model_flops_over_what_the_card_could_do",
    "test_all_steps_count_and_so_do_the_gaps",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    of_parameters = 6 * model.parameters
    whole = of_parameters + 12 * model.layers * model.hidden * model.sequence
    return right(events, model, gpu, dtype) * of_parameters / whole
