"""The routers are not counted."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import held, scaled

EXERCISE = "expert_parallel"
HINT = "Each layer has a router, hidden × experts, on every GPU."
FAILS = (
    "test_a_gpu_holds_its_own_experts_and_all_the_rest",
    "test_tokens_go_to_their_experts_and_home",
    "test_expert_parallel_of_any_model",
    "test_expert_parallel_sends_for_any_model",
)


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    got = right(gpt, experts, top_k, micro_batch, microbatches, gpus)
    router = gpt.layers * gpt.hidden * experts
    rest = gpt.parameters + gpt.layers * (gpt.hidden * experts - gpt.mlp)
    return scaled(held(got, fewer=router), "gradients", sent=(rest - router) / rest)
