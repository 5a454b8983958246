"""The share is in percent."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = "A share is from 0 to 1: 0.5 is 50 %."
FAILS = (
    "test_each_remedy_has_its_part_of_the_time",
    "test_attention_is_fine_and_copies_want_overlap",
    "test_communication_that_is_hidden_costs_nothing",
    "test_the_two_kinds_of_waiting_are_two_things",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    found = right(breakdown)
    return Remedy(name=found.name, share=100 * found.share)
