"""The all-reduce of all gradients is counted once for every layer."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import scaled

EXERCISE = "data_parallel"
HINT = "The layers' gradients are parts of the model's: all of them go over the wire once, in one all-reduce."
FAILS = ("test_data_parallel_all_reduces_gradients_once", "test_data_parallel_sends_whatever_the_batch")


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    return scaled(right(gpt, batch, gpus), "gradients", count=gpt.layers)
