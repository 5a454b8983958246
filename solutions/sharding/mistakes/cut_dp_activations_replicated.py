"""Activations are taken for replicated."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import named

EXERCISE = "data_parallel"
HINT = "No GPU has the activations of another's sequences: what is cut here is the batch."
FAILS = ("test_data_parallel_all_reduces_gradients_once", "test_data_parallel_sends_whatever_the_batch")


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    return named(right(gpt, batch, gpus), "activations", "replicated")
