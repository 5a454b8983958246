"""There is no weight decay."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = "Your parameters do not decay. AdamW takes lr·weight_decay·p off in every step."
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_fewer_elements_than_ranks_and_no_gradient",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("no_decay",)


class ShardedOptimizer(Faulty):
    fault = "no_decay"
