"""Bytes that a collective puts on the wire when it runs as a ring: what the recorder charges. Exact, no torch.

A ring all-reduce of S bytes over n ranks is a reduce-scatter and an all-gather, each of n - 1 steps in which a rank
sends one n-th: 2 (n - 1) / n S for each rank (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
clusters of workstations", 2009).
"""

from collections.abc import Iterable
from fractions import Fraction

from .evidence import Collective

_ROUNDS = {
    "all_reduce": 2,
    "reduce_scatter": 1,
    "all_gather": 1,
    "all_to_all": 1,
    "broadcast": 1,
    "reduce": 1,
}


def sent_bytes(collective: Collective) -> Fraction:
    """Bytes that one rank sends for it; of a broadcast, reduce, gather or scatter, its share of what all send."""
    n = len(collective.ranks)
    if collective.kind == "send":
        return Fraction(collective.bytes)
    if collective.kind in ("gather", "scatter"):
        return Fraction(collective.bytes * (n - 1), n)
    return Fraction(_ROUNDS.get(collective.kind, 0) * collective.bytes * (n - 1), n)


def wire_bytes(by_rank: Iterable[Iterable[Collective]]) -> int:
    """Bytes that all ranks together put on the wire."""
    return round(sum((sent_bytes(each) for calls in by_rank for each in calls), Fraction(0)))
