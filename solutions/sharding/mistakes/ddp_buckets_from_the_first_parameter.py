"""Buckets are filled from the first parameter on."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "Your buckets begin with the first parameters, whose gradients come last: no bucket can start before "
    "backward is nearly over. Go through the parameters in reverse."
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
SYMPTOMS = (
    "filled_from_the_first",
    "started_out_of_time",
)


class DistributedDataParallel(Faulty):
    fault = "forward_order"
