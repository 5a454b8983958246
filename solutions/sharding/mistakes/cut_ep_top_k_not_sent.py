"""A token is sent to one expert."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import scaled

EXERCISE = "expert_parallel"
HINT = "A token goes to top_k experts: so many copies of it are sent."
FAILS = ("test_tokens_go_to_their_experts_and_home", "test_expert_parallel_sends_for_any_model")


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    return scaled(
        right(gpt, experts, top_k, micro_batch, microbatches, gpus),
        "activations",
        "activation_gradients",
        sent=1 / top_k,
    )
