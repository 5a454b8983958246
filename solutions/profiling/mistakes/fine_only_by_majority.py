"""A step is fine only where matmul and attention take more than half of it."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = "The largest part decides, also where it is less than half: the second-largest promises less."
FAILS = (
    "test_each_remedy_has_its_part_of_the_time",
    "test_attention_is_fine_and_copies_want_overlap",
    "test_communication_that_is_hidden_costs_nothing",
    "test_the_two_kinds_of_waiting_are_two_things",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    found = right(breakdown)
    if found.name != "fine" or found.share > 0.5:
        return found
    return right(breakdown.model_copy(update={"matmul_s": 0.0, "attention_s": 0.0}))
