"""Buckets are started in the order in which they fill up on the rank."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "Your ranks start buckets in the order in which they fill up, and where ranks use different layers "
    "these are different orders: gradients of different parameters are added to each other. A full bucket "
    "has to wait for those before it."
)
FAILS = (
    "test_weights_that_a_step_does_not_use",
    "test_any_unused_weights",
)


class DistributedDataParallel(Faulty):
    fault = "order_of_hooks"
