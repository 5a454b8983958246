"""The entry holds the number of a step in which every pass takes one."""

from ..bubbles import pipeline_schedule as right

EXERCISE = "pipeline_schedule"
HINT = "Your times count passes, as if each took 1. They are times: a pass begins when what it waits for has ended, a forward or a backward later."
FAILS = (
    "test_gpipe_runs_all_forwards_and_then_all_backwards",
    "test_1f1b_takes_as_long_and_holds_less",
    "test_durations_are_given_and_not_assumed",
    "test_one_stage_one_microbatch_and_fewer_microbatches_than_stages",
    "test_any_1f1b",
    "test_any_gpipe",
    "test_the_smallest_pipelines",
)
SYMPTOMS = (
    "schedule.backward_too_early",
    "schedule.overlap",
    "schedule.too_long",
)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    return right(kind, stages, microbatches, 1, 1)
