"""Copies count for no remedy."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = (
    "A copy that nothing hides is data in motion, as exposed communication is: pinned memory and "
    "another stream overlap it."
)
FAILS = (
    "test_attention_is_fine_and_copies_want_overlap",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    return right(breakdown.model_copy(update={"copy_s": 0.0}))
