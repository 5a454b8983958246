"""A GPU passes on all n pieces of the tensor, the last one to where it came from."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "Of n pieces one need not be passed on: a ring takes n - 1 steps, not n."
FAILS = (
    "test_the_factors_of_a_ring_are_those_of_nccl_tests",
    "test_bytes_that_do_not_divide_are_not_rounded",
    "test_one_gpu_alone_sends_nothing",
    "test_the_bytes_of_any_ring",
)


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    if algorithm == "tree" or kind in ("send", "broadcast") or gpus == 1:
        return got
    return 2 * size_bytes if kind == "all_reduce" else size_bytes
