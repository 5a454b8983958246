"""Every GPU holds one expert of each layer."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import held

EXERCISE = "expert_parallel"
HINT = "With more experts than GPUs a GPU has several of each layer."
FAILS = ("test_a_gpu_holds_its_own_experts_and_all_the_rest", "test_expert_parallel_of_any_model")


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    got = right(gpt, experts, top_k, micro_batch, microbatches, gpus)
    return held(got, fewer=gpt.layers * (experts // gpus - 1) * gpt.mlp)
