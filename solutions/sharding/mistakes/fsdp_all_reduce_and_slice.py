"""The gradient is all-reduced and then cut."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "You all-reduce the whole gradient and keep a slice of it: twice the bytes of the reduce_scatter that "
    "gives the slice at once."
)
FAILS = (
    "test_three_steps_are_those_of_the_whole_model",
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_a_matrix_used_twice",
    "test_no_more_than_one_block_is_whole",
    "test_any_blocks",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("all_reduce_for_reduce_scatter",)


class FullySharded(Faulty):
    fault = "all_reduce"
