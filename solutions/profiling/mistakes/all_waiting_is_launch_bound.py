"""All idle time is launch-bound."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = (
    "A device that waits on data is not helped by faster launches: idle_data and idle_host have a "
    "remedy each."
)
FAILS = (
    "test_each_remedy_has_its_part_of_the_time",
    "test_the_two_kinds_of_waiting_are_two_things",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    idle_s = breakdown.idle_data_s + breakdown.idle_host_s
    return right(breakdown.model_copy(update={"idle_host_s": idle_s, "idle_data_s": 0.0}))
