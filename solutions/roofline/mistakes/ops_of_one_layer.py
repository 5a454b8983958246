"""One layer is counted instead of all of them."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right

EXERCISE = "layer_costs"
HINT = "count says how often the step runs an op, over all layers."
FAILS = (
    "test_a_forward_pass_by_pencil_and_paper",
    "test_a_backward_pass_by_pencil_and_paper",
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_matmul_flops_are_2nd_forward_and_4nd_backward",
    "test_any_training_step",
    "test_any_serving_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    ops = right(model, batch, sequence, phase, dtype, table)
    return [op.model_copy(update={"count": max(1, op.count // model.layers)}) for op in ops]
