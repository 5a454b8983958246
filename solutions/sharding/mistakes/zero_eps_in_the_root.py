"""eps is added under the root."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = "You take the root of v + eps. In AdamW eps is added behind the root: √v + eps."
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_fewer_elements_than_ranks_and_no_gradient",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("eps_inside",)


class ShardedOptimizer(Faulty):
    fault = "eps_inside"
