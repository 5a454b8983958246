"""Filling and draining are each counted as a forward and a backward."""

from specs import BubbleFraction

EXERCISE = "bubble_fraction"
HINT = "You count the bubble twice. While the pipeline fills stages wait for forwards, while it drains for backwards: together p - 1 times a forward and a backward."
FAILS = (
    "test_4_stages_and_8_microbatches_wait_3_of_11_which_is_3_over_8",
    "test_1f1b_saves_activations_and_no_time",
    "test_4_chunks_a_gpu_quarter_the_waiting",
    "test_one_stage_never_waits_and_one_microbatch_fills_one_stage_of_all",
    "test_any_pipeline",
    "test_fewer_microbatches_than_stages",
)


def bubble_fraction(schedule: str, stages: int, microbatches: int, chunks: int = 1) -> BubbleFraction:
    work = microbatches * (chunks if schedule == "interleaved" else 1)
    waiting = 2 * (stages - 1)
    return BubbleFraction(of_total=waiting / (work + waiting), over_ideal=waiting / work)
