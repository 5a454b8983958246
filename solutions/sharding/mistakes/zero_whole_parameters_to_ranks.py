"""Whole parameters are given to the ranks in turn."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "You give whole parameters to the ranks, so whoever has the largest keeps the most, and with few "
    "parameters a rank keeps none. Cut the vector of all elements."
)
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("uneven_state",)


class ShardedOptimizer(Faulty):
    fault = "by_parameter"
