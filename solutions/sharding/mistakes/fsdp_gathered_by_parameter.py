"""Each parameter is gathered alone."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "You gather each parameter of a block alone, and pay the latency for each. Flatten a block into one "
    "vector, and gather that."
)
FAILS = (
    "test_three_steps_are_those_of_the_whole_model",
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_a_matrix_used_twice",
    "test_no_more_than_one_block_is_whole",
    "test_any_blocks",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("gathered_by_parameter",)


class FullySharded(Faulty):
    fault = "by_parameter"
