"""1F1B holds every microbatch, as GPipe does."""

EXERCISE = "pipeline_peak_activations"
HINT = "Your 1F1B holds as much as GPipe. Its point is that the first backward comes before the last forward, and lets activations go."
FAILS = (
    "test_1f1b_holds_as_many_microbatches_as_there_are_stages_from_here_on",
    "test_no_stage_holds_more_microbatches_than_there_are",
    "test_any_pipelines_activations",
)


def pipeline_peak_activations(schedule: str, stages: int, microbatches: int) -> list[int]:
    return [microbatches] * stages
