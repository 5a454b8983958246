"""The all-to-alls of backward are forgotten."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import without

EXERCISE = "expert_parallel"
HINT = "Gradients take the way of the tokens, backward: two all-to-alls a layer more."
FAILS = ("test_tokens_go_to_their_experts_and_home", "test_expert_parallel_sends_for_any_model")


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    return without(
        right(gpt, experts, top_k, micro_batch, microbatches, gpus), "all_to_all", "activation_gradients"
    )
