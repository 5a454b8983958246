"""Communication that is overlapped already counts for overlap."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = (
    "Overlapped communication runs under other work and takes no time of its own: only the exposed "
    "part is to be gained."
)
FAILS = (
    "test_communication_that_is_hidden_costs_nothing",
    "test_any_step",
)


def remedy(breakdown: StepBreakdown) -> Remedy:
    exposed_s = breakdown.exposed_communication_s + breakdown.overlapped_communication_s
    return right(breakdown.model_copy(update={"exposed_communication_s": exposed_s}))
