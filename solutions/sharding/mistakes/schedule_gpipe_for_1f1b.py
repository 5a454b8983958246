"""1F1B is GPipe under another name."""

from ..bubbles import pipeline_schedule as right

EXERCISE = "pipeline_schedule"
HINT = "Your 1F1B is GPipe: every forward comes first, and every microbatch is held. Turn round after the warm-up."
FAILS = (
    "test_1f1b_takes_as_long_and_holds_less",
    "test_durations_are_given_and_not_assumed",
    "test_one_stage_one_microbatch_and_fewer_microbatches_than_stages",
    "test_any_1f1b",
    "test_the_smallest_pipelines",
)
SYMPTOMS = ("schedule.holds_too_many",)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    return [*right("gpipe", stages, microbatches, forward, backward)]
