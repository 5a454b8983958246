"""GPipe is 1F1B under another name."""

from ..bubbles import pipeline_schedule as right

EXERCISE = "pipeline_schedule"
HINT = "Your GPipe is 1F1B: a stage begins backwards before its last forward. GPipe flushes once, after all forwards."
FAILS = (
    "test_gpipe_runs_all_forwards_and_then_all_backwards",
    "test_durations_are_given_and_not_assumed",
    "test_one_stage_one_microbatch_and_fewer_microbatches_than_stages",
    "test_any_gpipe",
    "test_the_smallest_pipelines",
)
SYMPTOMS = ("schedule.backward_among_forwards",)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    return [*right("1f1b", stages, microbatches, forward, backward)]
