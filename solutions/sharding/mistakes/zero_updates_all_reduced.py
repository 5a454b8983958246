"""The updated slices are shared by an all_reduce of zeros and slices."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "You share the slices by adding up vectors that are zero elsewhere. Right, and twice the bytes of an "
    "all-gather: an all-reduce is a reduce-scatter and an all-gather."
)
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("more_than_an_all_gather",)


class ShardedOptimizer(Faulty):
    fault = "all_reduced"
