"""Interleaving changes nothing."""

from specs import BubbleFraction

from ..bubbles import bubble_fraction as right

EXERCISE = "bubble_fraction"
HINT = "Your interleaved schedule waits as long as plain 1F1B. A chunk is a part of the stage: the first microbatch comes down sooner."
FAILS = (
    "test_4_chunks_a_gpu_quarter_the_waiting",
    "test_any_pipeline",
)


def bubble_fraction(schedule: str, stages: int, microbatches: int, chunks: int = 1) -> BubbleFraction:
    return right(schedule, stages, microbatches, 1)
