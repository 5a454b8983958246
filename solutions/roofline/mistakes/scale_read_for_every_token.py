"""A norm reads its scale again for every token."""

from specs import DTYPE_BYTES, ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "A norm's scale is read once, however many tokens there are."
FAILS = (
    "test_a_forward_pass_by_pencil_and_paper",
    "test_a_backward_pass_by_pencil_and_paper",
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
    scale = (2 if model.norm_bias else 1) * model.hidden * DTYPE_BYTES[dtype]
    extra = (tokens - 1) * scale
    return with_cost(
        ops,
        lambda op: {"bytes_read": op.cost.bytes_read + extra} if op.name in ("norms", "final_norm") else {},
    )
