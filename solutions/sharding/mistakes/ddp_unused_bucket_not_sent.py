"""A bucket with an unused parameter is not sent by the rank that did not use it."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "A rank that did not use a parameter never sends its bucket, since no hook is called for it, and the "
    "others wait. In finish_gradient_synchronization start every bucket that has not been started, with "
    "zeros for what is missing."
)
FAILS = (
    "test_weights_that_a_step_does_not_use",
    "test_any_unused_weights",
)
SYMPTOMS = ("not_sent",)


class DistributedDataParallel(Faulty):
    fault = "unused_not_sent"
