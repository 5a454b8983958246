"""All weights are divided among the GPUs."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import held

EXERCISE = "expert_parallel"
HINT = "Only experts are dealt out. Attention, norms, routers and embeddings are whole on every GPU."
FAILS = ("test_a_gpu_holds_its_own_experts_and_all_the_rest", "test_expert_parallel_of_any_model")


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    got = right(gpt, experts, top_k, micro_batch, microbatches, gpus)
    rest = gpt.parameters + gpt.layers * (gpt.hidden * experts - gpt.mlp)
    return held(got, fewer=rest * (gpus - 1) / gpus)
