"""GPipe lets activations go as 1F1B does."""

from ..bubbles import pipeline_peak_activations as right

EXERCISE = "pipeline_peak_activations"
HINT = "GPipe runs all forwards before any backward, so nothing is let go before the last microbatch is in: it does not hold as little as 1F1B."
FAILS = (
    "test_gpipe_holds_every_microbatch_on_every_stage",
    "test_any_pipelines_activations",
)


def pipeline_peak_activations(schedule: str, stages: int, microbatches: int) -> list[int]:
    return right("1f1b", stages, microbatches)
