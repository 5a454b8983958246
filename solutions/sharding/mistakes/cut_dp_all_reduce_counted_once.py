"""The ring of the all-reduce goes round once."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import scaled

EXERCISE = "data_parallel"
HINT = "An all-reduce is two passes round the ring: 2·(n − 1)/n of the gradients."
FAILS = ("test_data_parallel_all_reduces_gradients_once", "test_data_parallel_sends_whatever_the_batch")


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    return scaled(right(gpt, batch, gpus), "gradients", sent=0.5)
