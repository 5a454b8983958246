"""The root of a tree all-reduce is counted on the way up too."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "On the way up the root only receives. It sends on the way down, once a level."
FAILS = ("test_the_root_of_a_tree_sends_at_every_level", "test_the_bytes_of_any_tree")


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    return 2 * got if kind == "all_reduce" and algorithm == "tree" else got
