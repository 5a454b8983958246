"""Pieces are whole bytes, rounded down."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "You round: the answer may be a fraction of a byte. Multiply first, and use / and not //."
FAILS = ("test_bytes_that_do_not_divide_are_not_rounded", "test_the_bytes_of_any_ring")


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    if algorithm == "tree" or kind in ("send", "broadcast"):
        return got
    passes = 2 if kind == "all_reduce" else 1
    return passes * (gpus - 1) * (int(size_bytes) // gpus)
