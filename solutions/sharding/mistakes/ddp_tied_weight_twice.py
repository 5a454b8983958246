"""A tied weight is sent twice."""

from ._buckets import Faulty

EXERCISE = "distributed_data_parallel"
HINT = (
    "Your step sends more bytes than there are gradients: a tied weight is one parameter with two names. "
    "module.parameters() yields it once."
)
FAILS = (
    "test_a_tied_weight_travels_once",
    "test_any_unused_weights",
)
SYMPTOMS = ("more_than_the_gradients",)


class DistributedDataParallel(Faulty):
    fault = "tied_twice"
