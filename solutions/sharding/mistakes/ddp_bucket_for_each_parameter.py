"""Each parameter has a bucket for itself."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "You send each gradient alone, whatever bucket_bytes says. Collect gradients until the next one would "
    "make the bucket too large."
)
FAILS = (
    "test_buckets_start_while_backward_runs",
    "test_a_bucket_that_is_not_full_and_a_weight_larger_than_one",
    "test_weights_that_a_step_does_not_use",
    "test_any_buckets",
)
SYMPTOMS = ("bucket_for_each_parameter",)


class DistributedDataParallel(Faulty):
    fault = "bucket_for_each_parameter"
