"""The share of the whole time is returned as the share of the work too."""

from specs import BubbleFraction

from ..bubbles import bubble_fraction as right

EXERCISE = "bubble_fraction"
HINT = "`over_ideal` is over the time of the work alone, as Megatron-LM and Llama 3 print it: the waiting is not in its denominator."
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
    return BubbleFraction(of_total=both.of_total, over_ideal=both.of_total)
