"""The gradients of experts are all-reduced, too."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import scaled

EXERCISE = "expert_parallel"
HINT = "An expert exists once in the group: there is nobody to all-reduce its gradient with."
FAILS = ("test_tokens_go_to_their_experts_and_home", "test_expert_parallel_sends_for_any_model")


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    got = right(gpt, experts, top_k, micro_batch, microbatches, gpus)
    rest = gpt.parameters + gpt.layers * (gpt.hidden * experts - gpt.mlp)
    return scaled(got, "gradients", sent=(rest + gpt.layers * experts // gpus * gpt.mlp) / rest)
