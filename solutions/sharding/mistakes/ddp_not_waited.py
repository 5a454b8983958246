"""finish_gradient_synchronization does not wait."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "finish_gradient_synchronization returns while all_reduces are still on their way. Keep what "
    "async_op=True returns, and wait for each."
)
FAILS = (
    "test_buckets_start_while_backward_runs",
    "test_a_bucket_that_is_not_full_and_a_weight_larger_than_one",
    "test_weights_that_a_step_does_not_use",
    "test_a_tied_weight_travels_once",
    "test_no_sync_adds_up_before_it_communicates",
    "test_any_buckets",
    "test_any_unused_weights",
    "test_any_accumulation",
)
SYMPTOMS = ("not_waited",)


class DistributedDataParallel(Faulty):
    fault = "not_waited"
