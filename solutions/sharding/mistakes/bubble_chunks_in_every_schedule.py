"""Chunks shorten the bubble of GPipe and plain 1F1B too."""

from specs import BubbleFraction

from ..bubbles import bubble_fraction as right

EXERCISE = "bubble_fraction"
HINT = "Only the interleaved schedule has chunks. GPipe and 1F1B have one piece of the model on a GPU, whatever the argument says."
FAILS = (
    "test_1f1b_saves_activations_and_no_time",
    "test_any_pipeline",
)


def bubble_fraction(schedule: str, stages: int, microbatches: int, chunks: int = 1) -> BubbleFraction:
    return right("interleaved", stages, microbatches, chunks)
