"""Backwards go down the stages, as forwards do."""

from ..bubbles import pipeline_schedule as right

EXERCISE = "pipeline_schedule"
HINT = "Your backwards run from the first stage to the last. The gradient comes from the loss, which the last stage has: its backward is the first."
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
    "schedule.holds_too_many",
)


def pipeline_schedule(
    kind: str, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> list[tuple[float, int, int, str]]:
    mirrored = [
        (time, stages - 1 - stage if what == "B" else stage, index, what)
        for time, stage, index, what in right("gpipe", stages, microbatches, forward, backward)
    ]
    return sorted(mirrored)
