"""What the ranks tell, put together: who is in which collective, which of them do not fit, who waits for whom.

The watcher is in the worker's process, outside of the ranks: what was told cannot be taken back.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from .evidence import Collective, RankFault, RankState, Side

_MOST_CALLS = 4_000
"""Of one rank: nobody reads more, and a loop of barriers shall not fill the memory."""
_P2P = ("send", "recv")
_OF_ONE_SIZE = ("all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "barrier")


class Nonsense(ValueError):
    """A rank told what no recorder tells."""


@dataclass
class _Call:
    """One call of a rank."""

    number: int
    group: str
    told: Collective
    tag: int = 0
    place: int = 0
    """Of a collective, its place in its group's sequence on this rank; of a send or recv, in that of its pair."""
    is_over: bool = False


@dataclass
class _Track:
    """One rank, as far as it has told."""

    calls: list[_Call] = field(default_factory=list)
    waiting: int | None = None
    """Number of the call that it waits in."""
    end: str = ""
    """"returned", "raised" or "died"; "" while it runs."""
    places: Counter[str] = field(default_factory=Counter)


class Watch:
    """All ranks of one call."""

    def __init__(self, size: int) -> None:
        self.tracks = [_Track() for _ in range(size)]
        self.events = 0
        self.mismatch: RankFault | None = None
        """The first two calls that do not fit."""
        self.endless: RankFault | None = None
        """A rank that calls and calls."""
        self._first: dict[tuple[str, int], tuple[int, _Call]] = {}
        """By group and place: the rank that came first, and its call."""
        self._pairs: dict[tuple[object, ...], dict[str, list[tuple[int, _Call]]]] = defaultdict(
            lambda: {"send": [], "recv": []}
        )
        """By group, source, destination and tag."""

    def told(self, rank: int, event: dict[str, Any]) -> None:
        """Take in what a rank's recorder tells.

        Raises:
            Nonsense: it is of no known form, or of no possible order.
        """
        self.events += 1
        track = self.tracks[rank]
        kind, number = event.get("event"), event.get("number")
        if kind == "begins":
            self._begins(rank, track, event)
        elif not isinstance(number, int) or not 1 <= number <= len(track.calls):
            raise Nonsense("a call that has not begun")
        elif kind == "waits":
            track.waiting = number
        elif kind == "done":
            track.waiting = None
            track.calls[number - 1].is_over = True
        else:
            raise Nonsense("an event of no known kind")

    def _begins(self, rank: int, track: _Track, event: dict[str, Any]) -> None:
        rest = {name: event[name] for name in Collective.model_fields if name in event}
        try:
            told = Collective.model_validate(rest)
            call = _Call(int(event["number"]), str(event["group"])[:100], told, int(event.get("tag", 0)))
        except (ValidationError, TypeError, ValueError, KeyError):
            raise Nonsense("a call of the wrong form") from None
        if call.number != len(track.calls) + 1:
            raise Nonsense("calls out of order")
        if len(track.calls) >= _MOST_CALLS:
            self.endless = self.endless or RankFault(kind="endless", rank=rank, calls=_MOST_CALLS)
            return
        track.calls.append(call)
        if told.kind in _P2P:
            self._pair(rank, track, call)
        else:
            self._compare(rank, track, call)

    def _compare(self, rank: int, track: _Track, call: _Call) -> None:
        """Set the call beside the one of whichever rank came to this place of the group's sequence first."""
        call.place = track.places[call.group]
        track.places[call.group] += 1
        first_rank, first = self._first.setdefault((call.group, call.place), (rank, call))
        if self.mismatch is None and _shape(first.told) != _shape(call.told):
            sides = sorted([(first_rank, first), (rank, call)], key=lambda side: side[0])
            self.mismatch = RankFault(kind="mismatch", rank=rank, sides=tuple(_side(*side) for side in sides))

    def _pair(self, rank: int, track: _Track, call: _Call) -> None:
        peer = call.told.peer
        if peer is None:
            return
        source, destination = (rank, peer) if call.told.kind == "send" else (peer, rank)
        key = (call.group, source, destination, call.tag)
        mine = self._pairs[key][call.told.kind]
        call.place = len(mine)
        mine.append((rank, call))
        other = self._pairs[key]["recv" if call.told.kind == "send" else "send"]
        if self.mismatch is None and call.place < len(other):
            _, theirs = other[call.place]
            if theirs.told.bytes != call.told.bytes:
                sides = sorted([(rank, call), other[call.place]], key=lambda side: side[0])
                self.mismatch = RankFault(
                    kind="mismatch", rank=rank, sides=tuple(_side(*side) for side in sides)
                )

    # ---- at the end

    def unmatched(self) -> RankFault | None:
        """A send or recv whose other end never came, of ranks that have all returned."""
        anywhere = Counter(
            rank
            for rank, track in enumerate(self.tracks)
            for call in track.calls
            if call.told.kind == "recv" and call.told.peer is None
        )
        for (_, _, destination, _), ends in self._pairs.items():
            sends, recvs = ends["send"], ends["recv"]
            lone = sends[len(recvs) :] or recvs[len(sends) :]
            if lone and sends[len(recvs) :] and isinstance(destination, int) and anywhere[destination]:
                anywhere[destination] -= len(lone)
                continue
            if lone:
                rank, call = lone[0]
                return RankFault(kind="unmatched", rank=rank, sides=(_side(rank, call),))
        return None

    def everyone_waits(self) -> bool:
        """Whether each rank waits or has ended, and one waits."""
        running = [track for track in self.tracks if not track.end]
        return bool(running) and all(track.waiting is not None for track in running)

    def states(self) -> tuple[RankState, ...]:
        """Where each rank is now."""
        return tuple(self._state(rank, track) for rank, track in enumerate(self.tracks))

    def _state(self, rank: int, track: _Track) -> RankState:
        if track.end or track.waiting is None:
            return RankState(rank=rank, status=track.end or "own_code", number=len(track.calls))
        call = track.calls[track.waiting - 1]
        return RankState(
            rank=rank,
            status="waits",
            kind=call.told.kind,
            number=call.number,
            waits_for=tuple(self._missing(rank, call)),
        )

    def _missing(self, rank: int, call: _Call) -> Iterator[int]:
        """Ranks that have not come to a call."""
        if call.told.kind in _P2P:
            peer = call.told.peer
            if peer is not None:
                pair = (rank, peer) if call.told.kind == "send" else (peer, rank)
                ends = self._pairs[(call.group, *pair, call.tag)]
                if len(ends["recv" if call.told.kind == "send" else "send"]) <= call.place:
                    yield peer
            return
        for other in call.told.ranks:
            if other < len(self.tracks) and self.tracks[other].places[call.group] <= call.place:
                yield other

    def collectives(self) -> tuple[tuple[Collective, ...], ...]:
        """Every call, by rank, in the order in which they began."""
        return tuple(tuple(call.told for call in track.calls) for track in self.tracks)


def _shape(told: Collective) -> tuple[object, ...]:
    """What must be the same on every rank."""
    sized = (told.elements, told.dtype) if told.kind in _OF_ONE_SIZE else ()
    return told.kind, told.op, told.ranks, told.peer, sized


def _side(rank: int, call: _Call) -> Side:
    told = call.told
    return Side(
        rank=rank,
        kind=told.kind,
        number=call.number,
        elements=told.elements,
        dtype=told.dtype,
        op=told.op,
        peer=told.peer,
    )
