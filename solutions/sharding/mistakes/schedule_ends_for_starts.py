"""The times are when passes end."""

from ..bubbles import pipeline_schedule as right

EXERCISE = "pipeline_schedule"
HINT = "Your times are when a pass ends. An entry says when it begins: the very first is at 0."
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
    "schedule.overlap",
    "schedule.too_long",
)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    entries = right(kind, stages, microbatches, forward, backward)
    return [
        (time + (forward if what == "F" else backward), stage, index, what)
        for time, stage, index, what in entries
    ]
