"""Only the forwards of the warm-up are counted."""

EXERCISE = "pipeline_peak_activations"
HINT = "You count the warm-up only. Behind it comes one more forward before the first backward: the last stage holds 1 and not 0."
FAILS = (
    "test_1f1b_holds_as_many_microbatches_as_there_are_stages_from_here_on",
    "test_no_stage_holds_more_microbatches_than_there_are",
    "test_any_pipelines_activations",
)


def pipeline_peak_activations(schedule: str, stages: int, microbatches: int) -> list[int]:
    if schedule == "gpipe":
        return [microbatches] * stages
    return [min(stages - stage - 1, microbatches) for stage in range(stages)]
