"""1F1B holds more microbatches than there are."""

EXERCISE = "pipeline_peak_activations"
HINT = "A stage cannot hold more microbatches than the step has: what if there are fewer than stages?"
FAILS = (
    "test_no_stage_holds_more_microbatches_than_there_are",
    "test_any_pipelines_activations",
)


def pipeline_peak_activations(schedule: str, stages: int, microbatches: int) -> list[int]:
    if schedule == "gpipe":
        return [microbatches] * stages
    return [stages - stage for stage in range(stages)]
