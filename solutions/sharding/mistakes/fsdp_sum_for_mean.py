"""The gradient is the sum over the ranks."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "The gradient of your shard is a sum over the ranks: reduce_scatter adds. AdamW hides a factor "
    "nearly, and it is wrong all the same: divide by the ranks."
)
FAILS = (
    "test_three_steps_are_those_of_the_whole_model",
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_a_matrix_used_twice",
    "test_no_more_than_one_block_is_whole",
    "test_any_blocks",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("sum_for_mean",)


class FullySharded(Faulty):
    fault = "sum_for_mean"
