"""All tokens are counted as sent, those for the GPU's own experts too."""

from specs import Gpt, GpuShare

from ..cuts import expert_parallel as right
from ._shares import scaled

EXERCISE = "expert_parallel"
HINT = "One n-th of the tokens go to experts on the GPU itself, and never touch the wire."
FAILS = ("test_tokens_go_to_their_experts_and_home", "test_expert_parallel_sends_for_any_model")


def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    got = right(gpt, experts, top_k, micro_batch, microbatches, gpus)
    return scaled(got, "activations", "activation_gradients", sent=gpus / (gpus - 1)) if gpus > 1 else got
