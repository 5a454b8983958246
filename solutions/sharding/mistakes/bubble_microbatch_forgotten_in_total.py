"""The whole time is taken as as many slots as stages and microbatches."""

from specs import BubbleFraction

EXERCISE = "bubble_fraction"
HINT = "The whole time is m + p - 1 slots and not m + p: the last stage begins its first microbatch in slot p - 1, counted from 0."
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
    return BubbleFraction(of_total=(stages - 1) / (work + stages), over_ideal=(stages - 1) / work)
