"""A parameter that comes twice has two states."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "A tied parameter has moments twice, and N counts it twice. It is one tensor: keep the first of each "
    "object."
)
FAILS = (
    "test_a_tied_weight_has_one_state",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("tied_state_twice",)


class ShardedOptimizer(Faulty):
    fault = "tied_twice"
