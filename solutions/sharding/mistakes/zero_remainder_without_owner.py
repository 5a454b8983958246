"""The slices are rounded down, so the last elements have no owner."""

from ._moments import Faulty

EXERCISE = "sharded_optimizer"
HINT = (
    "The last elements are never updated: with ⌊N / ranks⌋ elements for each rank a remainder belongs to "
    "nobody. Round up and pad."
)
FAILS = (
    "test_sizes_that_do_not_divide",
    "test_a_tied_weight_has_one_state",
    "test_fewer_elements_than_ranks_and_no_gradient",
    "test_any_adamw",
    "test_any_remainder_and_order",
)
SYMPTOMS = ("remainder_dropped",)


class ShardedOptimizer(Faulty):
    fault = "remainder_dropped"
