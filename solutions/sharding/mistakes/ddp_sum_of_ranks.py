"""The gradients of the ranks are summed."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "Your gradients are sums over the ranks. Each rank's loss is a mean already, so divide by the number "
    "of ranks, or reduce with AVG where the backend has it."
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
SYMPTOMS = ("sum_for_mean",)


class DistributedDataParallel(Faulty):
    fault = "sum_for_mean"
