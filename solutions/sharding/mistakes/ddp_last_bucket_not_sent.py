"""A bucket that never fills up is never reduced."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "Some gradients are still a rank's own: a bucket is only sent when it has reached its size, and the "
    "last one never does. Send what is left in finish_gradient_synchronization."
)
FAILS = (
    "test_buckets_start_while_backward_runs",
    "test_a_bucket_that_is_not_full_and_a_weight_larger_than_one",
    "test_weights_that_a_step_does_not_use",
    "test_no_sync_adds_up_before_it_communicates",
    "test_any_buckets",
)
SYMPTOMS = (
    "own_gradient",
    "not_sent",
)


class DistributedDataParallel(Faulty):
    fault = "only_full_buckets"
