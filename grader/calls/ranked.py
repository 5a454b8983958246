"""A call on N ranks as a test gets it, and as what a student reads where it came to no good end."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from grader.calls.faults import Fault, RankDied, RanksDisagree, RanksHang, Tampered
from grader.printable import printable
from grader.ranks.evidence import Collective, RankFault, RanksReport, RankState, Side
from grader.worker import wire

_REPORT_BYTES = 8 << 20


@dataclass(frozen=True)
class RankedCall:
    """What a call on ranks returned, and what was seen of it. By rank, where it is a tuple."""

    values: tuple[Any, ...]
    collectives: tuple[tuple[Collective, ...], ...] = ()
    """Every call through torch.distributed, in order. Recorded beside the student's code: alone it decides nothing."""
    wire_bytes: int = 0
    """What all ranks together put on the wire, by the formulas for rings."""
    outside_bytes: int | None = None
    """What the sandbox's loopback device carried meanwhile, headers included; None outside of a sandbox."""
    peak_bytes: tuple[int, ...] = ()
    """Most bytes of tensors that were alive at once, of those made during the call."""


def read_report(report: object) -> RanksReport:
    """The report of one call, from the bytes that the worker sent.

    Raises:
        WireTampered: it is not of the agreed form.
    """
    if not isinstance(report, bytes) or len(report) > _REPORT_BYTES:
        raise wire.WireTampered("a report of the wrong form")
    try:
        return RanksReport.model_validate_json(report)
    except ValidationError:
        raise wire.WireTampered("a report of ranks of the wrong form") from None


def rank_fault(function: str, fault: RankFault, source_line: Callable[[str, int], str]) -> Fault:
    """The fault for what went wrong on ranks; an exception of the student's is not told here.

    Args:
        function: the student's.
        fault: what the watcher found.
        source_line: the text of a line of a file of the submission, "" where there is none.
    """
    if fault.kind == "tampered" and fault.message:
        return Tampered(f"a rank sent what no honest code sends: {printable(fault.message, 100)}")
    if fault.kind == "tampered":
        return Tampered("the submission changed the part of the grader that measures it")
    symptom = f"ranks.{fault.kind}"
    kind: type[RankDied | RanksDisagree | RanksHang] = RanksHang
    if fault.kind == "died":
        kind, text = RankDied, f"rank {fault.rank} died {printable(fault.message, 100)}"
        hidden = f"rank {fault.rank} died"
    elif fault.kind == "endless":
        text = hidden = f"rank {fault.rank} has called {fault.calls:,} collectives and goes on"
    elif fault.kind == "mismatch":
        kind, text = RanksDisagree, _mismatch(fault.sides)
        hidden = _unnumbered(text)
    elif fault.kind == "unmatched":
        kind, text = RanksDisagree, _lone(fault.sides)
        hidden = _unnumbered(text)
    else:
        text, hidden = _stuck(fault, source_line), _unnumbered(_stuck(fault))
    return kind(f"{function}: {text}", symptom=symptom, hidden_message=f"{function}: {hidden}")


def _unnumbered(text: str) -> str:
    """Without sizes and numbers of calls, which a submission could choose by a hidden input."""
    text = re.sub(r" \(calls? number [^)]*\)| after its call number \d+| number \d+", "", text)
    return re.sub(r" of \d+ \w+", "", text)


# ---- in words


def _call(side: Side, with_size: bool) -> str:
    text: str = side.kind
    if side.op and side.op != "sum":
        text += f" ({printable(side.op, 20)})"
    if with_size:
        text += f" of {side.elements} {printable(side.dtype, 20)}"
    if side.peer is not None:
        text += {"send": " to", "recv": " from"}.get(side.kind, " with root") + f" rank {side.peer}"
    return text


def _mismatch(sides: Sequence[Side]) -> str:
    if len(sides) != 2:
        return "two ranks call different collectives"
    one, other = sides
    with_size = one.kind == other.kind or {one.kind, other.kind} == {"send", "recv"}
    number = (
        f"call number {one.number}"
        if one.number == other.number
        else f"calls number {one.number} and {other.number}"
    )
    return f"rank {one.rank} calls {_call(one, with_size)}, rank {other.rank} {_call(other, with_size)} ({number})"


def _lone(sides: Sequence[Side]) -> str:
    if len(sides) != 1 or sides[0].peer is None:
        return "a send or recv has no other end"
    side = sides[0]
    if side.kind == "send":
        return (
            f"rank {side.rank} sends to rank {side.peer} (call number {side.number}), which never receives it"
        )
    return (
        f"rank {side.rank} receives from rank {side.peer} (call number {side.number}), which never sends it"
    )


def _stuck(fault: RankFault, source_line: Callable[[str, int], str] | None = None) -> str:
    """Who waits in what for whom; the rank that the others wait for comes last."""
    by_rank = {state.rank: state for state in fault.states}
    waiting = [state for state in fault.states if state.status == "waits"]
    after = f" after {fault.seconds:g} s" if fault.kind == "hang" else ""
    if not waiting:
        busy = next((state for state in fault.states if state.status == "own_code"), None)
        if busy is None:
            return f"the ranks did not end{after}"
        return f"rank {busy.rank} is still in its own code{after}{_place(busy, source_line)}"
    first = waiting[0]
    text, seen = _waits(first), {first.rank}
    state, one = first, len(first.waits_for) < 2
    while state.status == "waits" and state.waits_for:
        known = [rank for rank in state.waits_for if rank in by_rank]
        if not known:
            break
        target = min(known, key=lambda rank: by_rank[rank].status == "waits")  # who does not wait explains it
        state = by_rank[target]
        if target in seen:
            return f"{text}: a circle{after}"
        seen.add(target)
        text += ", which " if one else f"; rank {target} "
        one = len(state.waits_for) < 2
        if state.status == "waits":
            text += _waits(state).partition(" ")[2].partition(" ")[2]
        elif state.status == "returned":
            text += "has returned already"
        elif state.status == "own_code":
            last = f" after its call number {state.number}" if state.number else ", having called nothing yet"
            text += f"is still in its own code{last}{_place(state, source_line)}"
        else:
            text += state.status
    return f"{text}{after and f' ({after.strip()})'}"


def _waits(state: RankState) -> str:
    others = state.waits_for
    whom = f" for rank {others[0]}" if len(others) == 1 else f" for ranks {_listed(others)}" if others else ""
    return f"rank {state.rank} waits in {state.kind} number {state.number}{whom}"


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:-1])) + f" and {ranks[-1]}"


def _place(state: RankState, source_line: Callable[[str, int], str] | None) -> str:
    text = source_line(state.file, state.line) if source_line is not None and state.file else ""
    return f" at {printable(state.file, 100)}, line {state.line}: {text}" if text else ""
