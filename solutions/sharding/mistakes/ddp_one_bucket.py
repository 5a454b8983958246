"""All parameters are in one bucket."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "You send all gradients in one bucket, whatever bucket_bytes says: it is full only when backward is over."
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
SYMPTOMS = ("one_bucket_for_all",)


class DistributedDataParallel(Faulty):
    fault = "one_bucket_for_all"
