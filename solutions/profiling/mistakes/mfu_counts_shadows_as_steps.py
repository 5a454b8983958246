"""The shadows of steps on the device count as steps."""

from collections.abc import Sequence

from specs import DType, Event, Gpu, TracedModel

from ..efficiency import achieved_mfu as right

EXERCISE = "achieved_mfu"
HINT = (
    "ProfilerStep#N is in the trace twice, once as gpu_user_annotation: with both you count every "
    "token twice."
)
FAILS = (
    "test_all_steps_count_and_so_do_the_gaps",
    "test_any_run",
)


def achieved_mfu(events: Sequence[Event], model: TracedModel, gpu: Gpu, dtype: DType) -> float:
    again = [
        {**event, "cat": "user_annotation"} for event in events if event.get("cat") == "gpu_user_annotation"
    ]
    return right([*events, *again], model, gpu, dtype)
