"""Weight decay is added to the gradient (L2)."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "You add weight_decay·p to the gradient, where it passes through the moments: that is Adam with L2. "
    "AdamW shrinks the parameter itself, by lr·weight_decay·p, beside the moments."
)
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_fewer_elements_than_ranks_and_no_gradient",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("l2_decay",)


class ShardedOptimizer(Faulty):
    fault = "l2_decay"
