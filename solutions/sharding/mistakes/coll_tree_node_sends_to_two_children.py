"""In a tree every GPU sends to two children, whatever its size."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "You take the tree for one in which nobody sends more than twice. In a binomial tree the root sends at every level."
FAILS = ("test_the_root_of_a_tree_sends_at_every_level", "test_the_bytes_of_any_tree")


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    if algorithm == "tree" and kind in ("all_reduce", "broadcast"):
        return min(gpus - 1, 2) * size_bytes
    return right(kind, size_bytes, gpus, algorithm)
