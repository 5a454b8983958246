"""What is told of one call on ranks: every collective of every rank, and what went wrong. Plain data, no torch."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal[
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "send",
    "recv",
    "barrier",
]
Rank = Annotated[int, Field(ge=0, lt=64)]
Count = Annotated[int, Field(ge=0, le=1 << 50)]
Text = Annotated[str, Field(max_length=100)]


class _Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Collective(_Plain):
    """One call of a rank that its process group saw. Recorded beside the student's code: alone it decides nothing."""

    kind: Kind
    bytes: Count
    """Of the tensor that the rank passes in: the whole input of all_reduce, reduce_scatter, all_to_all; the whole
    output of all_gather; the buffer of send, recv, broadcast, reduce; the own part of gather and scatter."""
    dtype: Text
    elements: Count
    op: Text = ""
    """sum, avg, max and so on, where the collective reduces."""
    ranks: Annotated[tuple[Rank, ...], Field(min_length=1)]
    """Of the group, by their number in the world."""
    peer: Rank | None = None
    """The other end of a send or recv, the root of a broadcast, reduce, gather or scatter; None from any source."""
    phase: Text = ""
    """What the scenario called this part of its run, "backward" say."""


class RankState(_Plain):
    """Where a rank was when a call came to no good end."""

    rank: Rank
    status: Literal["waits", "own_code", "returned", "raised", "died"]
    kind: Kind | None = None
    """The collective that it waits in."""
    number: Count = 0
    """Which of the rank's calls that is, from 1; of a rank in its own code, the last one that it made."""
    waits_for: tuple[Rank, ...] = ()
    """Ranks that have not come to that collective."""
    file: str = ""
    """Where in its own code, relative to the submission; "" where that is not known."""
    line: int = 0


class ErrorText(_Plain):
    """An exception as `load.describe_exception` tells it."""

    type: str = ""
    message: str = ""
    frames: tuple[tuple[str, int, str], ...] = ()
    is_todo: bool = False


class Side(_Plain):
    """One rank's part in a mismatch."""

    rank: Rank
    kind: Kind
    number: Count
    """Which of the rank's calls it is, from 1."""
    elements: Count
    dtype: Text
    op: Text = ""
    peer: Rank | None = None


class RankFault(_Plain):
    """Why a call on ranks has no value."""

    kind: Literal[
        "raised", "unsendable", "died", "hang", "deadlock", "endless", "mismatch", "unmatched", "tampered"
    ]
    rank: Rank = 0
    error: ErrorText | None = None
    """Of "raised"."""
    message: str = ""
    """Of "unsendable" and "died": what it returned, what it died of."""
    sides: tuple[Side, ...] = ()
    """Of "mismatch" (two ranks), and "unmatched" (the send or recv that has no other end)."""
    states: tuple[RankState, ...] = ()
    """Of "hang" and "deadlock": every rank."""
    seconds: float = 0.0
    """Of "hang": the deadline."""
    calls: Count = 0
    """Of "endless": how many collectives the rank has called by now."""


class RanksReport(_Plain):
    """What one call on ranks was seen to do; by rank."""

    collectives: tuple[tuple[Collective, ...], ...] = ()
    peak_bytes: tuple[Count, ...] = ()
    fault: RankFault | None = None
