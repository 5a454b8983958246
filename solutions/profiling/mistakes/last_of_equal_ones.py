"""Of equal shares the last one in the table decides."""

from specs import Remedy, StepBreakdown

from ..remedies import remedy as right

EXERCISE = "remedy"
HINT = (
    "Of equal shares the first in the table decides: replace what you have by a larger one only, and "
    "not by an equal one."
)
FAILS = ("test_the_two_kinds_of_waiting_are_two_things",)


def remedy(breakdown: StepBreakdown) -> Remedy:
    found = right(breakdown)
    shares = {
        "launch_bound": breakdown.idle_host_s,
        "loader": breakdown.idle_data_s,
        "overlap": breakdown.exposed_communication_s + breakdown.copy_s,
        "fuse": breakdown.memory_bound_s,
        "fine": breakdown.matmul_s + breakdown.attention_s,
    }
    return Remedy(name=max(shares, key=shares.__getitem__), share=found.share)  # type: ignore[arg-type]
