"""The list begins with the last stage."""

from ..bubbles import pipeline_peak_activations as right

EXERCISE = "pipeline_peak_activations"
HINT = "Your list is the wrong way round: stage 0 is the first, waits longest for its first backward, and holds the most."
FAILS = (
    "test_1f1b_holds_as_many_microbatches_as_there_are_stages_from_here_on",
    "test_no_stage_holds_more_microbatches_than_there_are",
    "test_any_pipelines_activations",
)


def pipeline_peak_activations(schedule: str, stages: int, microbatches: int) -> list[int]:
    return right(schedule, stages, microbatches)[::-1]
