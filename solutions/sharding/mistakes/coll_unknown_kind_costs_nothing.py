"""A kind that does not exist costs nothing."""

from ..collectives import Algorithm, Kind
from ..collectives import collective_bytes as right

EXERCISE = "collective_bytes"
HINT = "A typo in kind returns a number without a word. Raise a ValueError for what is in no branch."
FAILS = ("test_what_is_no_collective_is_refused",)
SYMPTOMS = ("accepts an unknown kind",)


def collective_bytes(kind: Kind, size_bytes: float, gpus: int, algorithm: Algorithm = "ring") -> float:
    known = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send")
    return right(kind, size_bytes, gpus, algorithm) if kind in known else 0
