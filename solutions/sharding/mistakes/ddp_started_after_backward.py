"""All buckets are started when backward is over."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "You start all buckets in finish_gradient_synchronization, when backward is over and nothing is left "
    "to hide them behind. Start a bucket in the hook of its last gradient."
)
FAILS = (
    "test_buckets_start_while_backward_runs",
    "test_a_bucket_that_is_not_full_and_a_weight_larger_than_one",
    "test_a_tied_weight_travels_once",
    "test_no_sync_adds_up_before_it_communicates",
    "test_any_buckets",
    "test_any_unused_weights",
    "test_any_accumulation",
)
SYMPTOMS = ("no_overlap",)


class DistributedDataParallel(Faulty):
    fault = "no_overlap"
