"""The backward pass has only the matmul for the gradients of the inputs."""

from specs import DTYPE_BYTES, ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "Each linear layer has two matmuls backward: one for its input's gradient, one for its weight's."
FAILS = (
    "test_a_backward_pass_by_pencil_and_paper",
    "test_matmul_flops_are_2nd_forward_and_4nd_backward",
    "test_any_training_step",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    inputs = {
        "attention_output": model.attention.heads * model.attention.head_dim,
        "mlp_down": model.mlp.intermediate,
    }

    def one_matmul(op: OpCost) -> dict[str, float]:
        if phase != "backward" or op.kind != "matmul":
            return {}
        x = batch * sequence * inputs.get(op.name, model.hidden) * DTYPE_BYTES[dtype]
        w = op.cost.bytes_written - x
        y = (op.cost.bytes_read - x - w) / 2
        return {"flops": op.cost.flops / 2, "bytes_read": y + w, "bytes_written": x}

    return with_cost(right(model, batch, sequence, phase, dtype, table), one_matmul)
