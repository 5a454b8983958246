"""Each rank updates its slice and nobody tells the others."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "Each rank has updated its own slice, and the rest of its parameters is as old as before. Gather the "
    "slices behind the update."
)
FAILS = (
    "test_five_steps_are_those_of_adamw",
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_fewer_elements_than_ranks_and_no_gradient",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("not_shared",)


class ShardedOptimizer(Faulty):
    fault = "not_shared"
