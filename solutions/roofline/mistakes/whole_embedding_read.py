"""The embedding reads its whole table."""

from specs import DTYPE_BYTES, ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "A lookup reads one row a token, not the vocabulary."
FAILS = (
    "test_a_forward_pass_by_pencil_and_paper",
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_any_training_step",
    "test_any_serving_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    ops = right(model, batch, sequence, phase, dtype, table)
    tokens = batch if phase == "decode" else batch * sequence
    read = model.vocab * model.hidden * DTYPE_BYTES[dtype] + 8 * tokens
    return with_cost(
        ops, lambda op: {"bytes_read": read} if op.name == "embedding" and phase != "backward" else {}
    )
