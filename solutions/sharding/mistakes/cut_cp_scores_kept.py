"""The attention scores are kept."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import held

EXERCISE = "context_parallel"
HINT = "Ring attention works block by block, as FlashAttention does: no scores are kept for backward."
FAILS = ("test_context_parallel_holds_its_tokens_and_no_scores", "test_context_parallel_of_any_model")


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    scores = 5 * gpt.heads * gpt.sequence**2 * micro_batch * gpt.layers // gpus
    return held(got, activations=got.held.activations + scores)
