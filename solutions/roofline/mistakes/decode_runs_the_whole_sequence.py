"""Decode is taken for prefill."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right

EXERCISE = "layer_costs"
HINT = "Decode runs one new token of each sequence through the matmuls; the other tokens are in the cache."
FAILS = (
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_only_big_matmuls_stand_above_the_ridge",
    "test_any_serving_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    return right(model, batch, sequence, "prefill" if phase == "decode" else phase, dtype, table)
