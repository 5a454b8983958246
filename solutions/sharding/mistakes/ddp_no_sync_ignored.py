"""Every backward communicates, inside of no_sync as well."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "A backward inside of your no_sync starts all_reduces. Its hooks have to do nothing: the gradients "
    "add up in .grad."
)
FAILS = (
    "test_no_sync_adds_up_before_it_communicates",
    "test_any_accumulation",
)
SYMPTOMS = ("no_sync_communicates",)


class DistributedDataParallel(Faulty):
    fault = "no_sync_ignored"
