"""The share is the time itself, in seconds."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = "Seconds say little without the step they are of: divide by duration_s."
FAILS = (
    "test_each_remedy_has_its_part_of_the_time",
    "test_communication_that_is_hidden_costs_nothing",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    found = right(breakdown)
    return Remedy(name=found.name, share=found.share * breakdown.duration_s)
