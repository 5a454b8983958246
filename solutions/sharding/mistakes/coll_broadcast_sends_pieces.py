"""A broadcast is taken for an all-gather: everyone sends (n-1)/n of it."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "In a broadcast only one GPU has the tensor, and all of it passes every link down the line."
FAILS = ("test_a_broadcast_and_a_message_are_sent_whole", "test_the_bytes_of_any_ring")


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    return got * (gpus - 1) / gpus if kind == "broadcast" and algorithm == "ring" else got
