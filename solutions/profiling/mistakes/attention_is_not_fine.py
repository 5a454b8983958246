"""Attention counts for no remedy."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = (
    "An attention kernel does the FLOPs that the model needs, as a matmul does: its time is fine, and "
    "counts with the matmuls'."
)
FAILS = (
    "test_attention_is_fine_and_copies_want_overlap",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    return right(breakdown.model_copy(update={"attention_s": 0.0}))
