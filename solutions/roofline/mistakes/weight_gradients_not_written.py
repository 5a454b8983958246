"""The gradient of a weight is computed and not written."""

from specs import DTYPE_BYTES, ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "dW is written too, as large as the weight."
FAILS = (
    "test_a_backward_pass_by_pencil_and_paper",
    "test_any_training_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    ops = right(model, batch, sequence, phase, dtype, table)
    inputs = {
        "attention_output": model.attention.heads * model.attention.head_dim,
        "mlp_down": model.mlp.intermediate,
    }

    def no_dw(op: OpCost) -> dict[str, float]:
        if phase != "backward" or op.kind != "matmul":
            return {}
        return {"bytes_written": batch * sequence * inputs.get(op.name, model.hidden) * DTYPE_BYTES[dtype]}

    return with_cost(ops, no_dw)
