"""The size of an all-gather is taken for that of one shard."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "size_bytes of an all-gather is the gathered tensor. What a GPU brings in is 1/gpus of it."
FAILS = (
    "test_the_factors_of_a_ring_are_those_of_nccl_tests",
    "test_bytes_that_do_not_divide_are_not_rounded",
    "test_one_gpu_alone_sends_nothing",
    "test_the_bytes_of_any_ring",
)


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    return got * gpus if kind == "all_gather" else got
