"""The head runs for every token of the prompt."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right

EXERCISE = "layer_costs"
HINT = "Prefill needs one new token a sequence: the head runs for the last of each only."
FAILS = (
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_any_serving_step",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    every = {op.name: op for op in right(model, batch, sequence, "forward", dtype, table)}
    ops = right(model, batch, sequence, phase, dtype, table)
    return [every["head"] if phase == "prefill" and op.name == "head" else op for op in ops]
