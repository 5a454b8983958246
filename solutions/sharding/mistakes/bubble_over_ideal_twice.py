"""The share of the work is returned as the share of the whole time too."""

from specs import BubbleFraction

from ..bubbles import bubble_fraction as right

EXERCISE = "bubble_fraction"
HINT = "`of_total` is over the whole time of the step, and the stage waits in that time too: add the waiting to the denominator."
FAILS = (
    "test_4_stages_and_8_microbatches_wait_3_of_11_which_is_3_over_8",
    "test_1f1b_saves_activations_and_no_time",
    "test_4_chunks_a_gpu_quarter_the_waiting",
    "test_one_stage_never_waits_and_one_microbatch_fills_one_stage_of_all",
    "test_any_pipeline",
    "test_fewer_microbatches_than_stages",
)


def bubble_fraction(schedule: str, stages: int, microbatches: int, chunks: int = 1) -> BubbleFraction:
    both = right(schedule, stages, microbatches, chunks)
    return BubbleFraction(of_total=both.over_ideal, over_ideal=both.over_ideal)
