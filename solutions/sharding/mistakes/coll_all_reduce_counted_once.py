"""An all-reduce is taken for one pass round the ring."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "After one pass round the ring each GPU has the sum of one piece only. The sums have to go round once more."
FAILS = (
    "test_the_factors_of_a_ring_are_those_of_nccl_tests",
    "test_bytes_that_do_not_divide_are_not_rounded",
    "test_the_bytes_of_any_ring",
)


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    return got / 2 if kind == "all_reduce" and algorithm == "ring" else got
