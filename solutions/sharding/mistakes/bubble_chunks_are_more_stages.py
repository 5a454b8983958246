"""Chunks make the pipeline longer."""

from specs import BubbleFraction

EXERCISE = "bubble_fraction"
HINT = "You wait for every chunk of every GPU. The chunks of one GPU take turns, so it waits for p - 1 other GPUs, a chunk's time each."
FAILS = (
    "test_4_chunks_a_gpu_quarter_the_waiting",
    "test_any_pipeline",
)


def bubble_fraction(schedule: str, stages: int, microbatches: int, chunks: int = 1) -> BubbleFraction:
    chunks = chunks if schedule == "interleaved" else 1
    work, waiting = microbatches * chunks, stages * chunks - 1
    return BubbleFraction(of_total=waiting / (work + waiting), over_ideal=waiting / work)
