"""The moments are not corrected for their start at zero."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "Your first steps are too small or too large: the moments begin as zeros, so divide them by 1 − β1^t "
    "and 1 − β2^t, and count t from 1."
)
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_fewer_elements_than_ranks_and_no_gradient",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("no_bias_correction",)


class ShardedOptimizer(Faulty):
    fault = "no_bias_correction"
