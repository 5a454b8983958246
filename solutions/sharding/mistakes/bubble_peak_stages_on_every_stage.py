"""Every stage holds as many microbatches as there are stages."""

EXERCISE = "pipeline_peak_activations"
HINT = "You have the first stage right and give its number to all. The last stage turns round at once: how many does it hold?"
FAILS = (
    "test_1f1b_holds_as_many_microbatches_as_there_are_stages_from_here_on",
    "test_no_stage_holds_more_microbatches_than_there_are",
    "test_any_pipelines_activations",
)


def pipeline_peak_activations(schedule: str, stages: int, microbatches: int) -> list[int]:
    if schedule == "gpipe":
        return [microbatches] * stages
    return [min(stages, microbatches)] * stages
