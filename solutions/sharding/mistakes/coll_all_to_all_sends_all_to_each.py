"""In an all-to-all the whole tensor goes to every other GPU."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "In an all-to-all each GPU gets a part of its own, 1/gpus of the tensor, and not all of it."
FAILS = (
    "test_the_factors_of_a_ring_are_those_of_nccl_tests",
    "test_bytes_that_do_not_divide_are_not_rounded",
    "test_the_bytes_of_any_ring",
)


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    return got * gpus if kind == "all_to_all" else got
