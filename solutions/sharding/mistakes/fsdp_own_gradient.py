"""Each rank takes its slice of its own gradient."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "The gradient of your shard is of this rank's examples alone. Other ranks have a part of the gradient "
    "of your slice: reduce-scatter it."
)
FAILS = (
    "test_three_steps_are_those_of_the_whole_model",
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_a_matrix_used_twice",
    "test_no_more_than_one_block_is_whole",
    "test_any_blocks",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("own_gradient",)


class FullySharded(Faulty):
    fault = "own_gradient"
