"""Backward uses the parameters that forward has gathered."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "Your block is gathered once and kept for backward, so at the end of forward all blocks are whole. "
    "Forget the vector after forward and gather it again."
)
FAILS = (
    "test_three_steps_are_those_of_the_whole_model",
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_a_matrix_used_twice",
    "test_no_more_than_one_block_is_whole",
    "test_any_blocks",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("gathered_once",)


class FullySharded(Faulty):
    fault = "gathered_once"
