"""Passes take 1 and 2, whatever is asked for."""

from ..bubbles import pipeline_schedule as right

EXERCISE = "pipeline_schedule"
HINT = "Your passes take 1 and 2 whatever the arguments say: use `forward` and `backward`."
FAILS = (
    "test_durations_are_given_and_not_assumed",
    "test_any_1f1b",
    "test_any_gpipe",
)
SYMPTOMS = (
    "schedule.backward_too_early",
    "schedule.overlap",
    "schedule.too_long",
)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    return right(kind, stages, microbatches)
