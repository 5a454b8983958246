"""Attention counts as memory-bound."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = "What is classed as attention is fused already: nothing is left to fuse. Count it with the matmuls."
FAILS = (
    "test_attention_is_fine_and_copies_want_overlap",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    memory_s = breakdown.memory_bound_s + breakdown.attention_s
    return right(breakdown.model_copy(update={"memory_bound_s": memory_s, "attention_s": 0.0}))
