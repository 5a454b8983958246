"""The share is of the busy time."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = (
    "A share is of the whole step, idle time included: half of the busy time may be a tenth of the "
    "step, and no remedy gains more than that."
)
FAILS = (
    "test_each_remedy_has_its_part_of_the_time",
    "test_attention_is_fine_and_copies_want_overlap",
    "test_communication_that_is_hidden_costs_nothing",
    "test_the_two_kinds_of_waiting_are_two_things",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    busy_s = breakdown.duration_s - breakdown.idle_data_s - breakdown.idle_host_s
    found = right(breakdown)
    return Remedy(
        name=found.name, share=found.share * breakdown.duration_s / busy_s if busy_s else found.share
    )
