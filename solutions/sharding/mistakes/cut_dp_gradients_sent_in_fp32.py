"""Gradients are sent in fp32."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import scaled

EXERCISE = "data_parallel"
HINT = "The gradients that are all-reduced are in bf16: 2 bytes each."
FAILS = ("test_data_parallel_all_reduces_gradients_once", "test_data_parallel_sends_whatever_the_batch")


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    return scaled(right(gpt, batch, gpus), "gradients", sent=2)
