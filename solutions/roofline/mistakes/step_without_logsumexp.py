"""Flash attention keeps no logsumexp."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "Flash attention writes one fp32 logsumexp for each query and head, and backward reads it."
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
    lse = 4 * batch * sequence * model.attention.heads

    def no_logsumexp(op: OpCost) -> dict[str, float]:
        if op.kind != "attention" or phase == "decode":
            return {}
        if phase == "backward":
            return {"bytes_read": op.cost.bytes_read - lse}
        return {"bytes_written": op.cost.bytes_written - lse}

    return with_cost(ops, no_logsumexp)
