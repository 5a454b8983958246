"""The experts keep the activations of each token once."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import held

EXERCISE = "expert_parallel"
HINT = "A token visits top_k experts, and each of them keeps its own 18 bytes for every channel."
FAILS = ("test_a_gpu_holds_its_own_experts_and_all_the_rest", "test_expert_parallel_of_any_model")


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    got = right(gpt, experts, top_k, micro_batch, microbatches, gpus)
    tokens = gpt.layers * gpt.sequence * micro_batch
    return held(got, activations=got.held.activations - tokens * 18 * (top_k - 1) * gpt.hidden)
