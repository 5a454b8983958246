"""Every rank keeps the moments of all parameters."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "Each of your ranks keeps the moments of all parameters, 8 bytes for each of them. Keep those of the "
    "rank's own slice; the others are somebody else's."
)
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("whole_state_on_every_rank",)


class ShardedOptimizer(Faulty):
    fault = "whole_state"
