"""Attention's backward pass reads Q, K, V, dO and the logsumexp, and not O."""

from specs import DTYPE_BYTES, ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "Backward needs the output O as well: its product with dO stands in the gradient of the softmax."
FAILS = (
    "test_a_backward_pass_by_pencil_and_paper",
    "test_any_training_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    ops = right(model, batch, sequence, phase, dtype, table)
    if phase != "backward":
        return ops
    q = model.attention.heads * model.attention.head_dim
    output = batch * sequence * q * DTYPE_BYTES[dtype]
    return with_cost(
        ops, lambda op: {"bytes_read": op.cost.bytes_read - output} if op.kind == "attention" else {}
    )
