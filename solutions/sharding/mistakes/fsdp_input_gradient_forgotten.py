"""backward returns no gradient of the input."""

from ._blocks import Faulty

EXERCISE = "fsdp"
HINT = (
    "The blocks before the last one get no gradient: your backward returns None for x. Detach x, let it "
    "require a gradient, and return its .grad."
)
FAILS = (
    "test_three_steps_are_those_of_the_whole_model",
    "test_blocks_that_do_not_divide_and_a_batch_of_one",
    "test_a_matrix_used_twice",
    "test_no_more_than_one_block_is_whole",
    "test_any_blocks",
    "test_any_row_of_large_blocks",
)
SYMPTOMS = ("gradient_ends",)


class FullySharded(Faulty):
    fault = "gradient_ends"
