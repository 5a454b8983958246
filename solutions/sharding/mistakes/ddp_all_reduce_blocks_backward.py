"""The all_reduces are not asynchronous."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "Your hook waits for its all_reduce, and backward with it: nothing overlaps. Start it with "
    "async_op=True and wait in finish_gradient_synchronization."
)
FAILS = (
    "test_buckets_start_while_backward_runs",
    "test_a_bucket_that_is_not_full_and_a_weight_larger_than_one",
    "test_a_tied_weight_travels_once",
    "test_no_sync_adds_up_before_it_communicates",
    "test_any_buckets",
    "test_any_accumulation",
)
SYMPTOMS = ("backward_waits",)


class DistributedDataParallel(Faulty):
    fault = "blocking"
