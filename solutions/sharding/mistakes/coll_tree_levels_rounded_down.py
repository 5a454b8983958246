"""The levels of a tree are rounded down."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "Five GPUs need three levels: two levels reach four. Round log2 up."
FAILS = ("test_the_root_of_a_tree_sends_at_every_level", "test_the_bytes_of_any_tree")


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    if algorithm == "tree" and kind in ("all_reduce", "broadcast"):
        return (gpus.bit_length() - 1) * size_bytes
    return right(kind, size_bytes, gpus, algorithm)
