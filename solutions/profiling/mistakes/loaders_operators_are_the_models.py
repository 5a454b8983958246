"""On the CPU the loader's own operators count as the model's work."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, is_loader, on_a_device, paired

EXERCISE = "step_breakdown"
HINT = (
    "Stacking a batch is the loader's work, though it is done by operators like the model's: what "
    "lies under the loader's annotation waits on data."
)
FAILS = (
    "test_without_a_device_the_loaders_operators_are_the_loaders",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    if on_a_device(events):
        return right(events, kinds)
    return paired(
        events,
        [event for event in events if not is_loader(event)],
        kinds,
        lambda step, bare: {
            "matmul_s": bare.matmul_s,
            "attention_s": bare.attention_s,
            "memory_bound_s": bare.memory_bound_s,
            "idle_data_s": bare.idle_host_s - step.idle_host_s,
        },
    )
