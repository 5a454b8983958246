"""A message is taken for a collective of the group: one GPU alone sends none."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "A send is a message from one GPU to another: its bytes do not depend on gpus."
FAILS = ("test_a_broadcast_and_a_message_are_sent_whole", "test_the_bytes_of_any_ring")


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    got = right(kind, size_bytes, gpus, algorithm)
    return got * (gpus - 1) / gpus if kind == "send" else got
