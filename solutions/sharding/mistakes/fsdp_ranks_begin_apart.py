"""Each rank cuts its shard from its own random numbers."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "Your shards are cut from what each rank drew for itself: put together they are nobody's model. Rank "
    "0's values count: broadcast them before you cut."
)
FAILS = (
    "test_three_steps_are_those_of_the_whole_model",
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_a_matrix_used_twice",
    "test_no_more_than_one_block_is_whole",
    "test_any_blocks",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("not_broadcast",)


class FullySharded(Faulty):
    fault = "not_broadcast"
