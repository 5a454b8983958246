"""Checks of ring attention: values of every rank, what went round the ring, the scores alive at once, the work."""

from typing import TYPE_CHECKING, Any

from grader.calls.faults import CheckFailed
from grader.checks.closeness import nearest
from grader.checks.expect import Expect
from kernels_ref.shards import ring

if TYPE_CHECKING:
    from torch import Tensor

    Inputs = tuple[Tensor, Tensor, Tensor]

MOST_SCORE_BLOCKS = 6.0
"""Blocks of scores alive at once. The reference has 3 (scores, minus lse, exp); over all keys of 4 ranks it is 8."""
SPARE_PAIRS = 1.1
"""Pairs of chunks that a rank may multiply beyond its 2n + 1: its own four under one mask are one more. Of 4 ranks 10
are accepted, and 16 are multiplied where none is skipped."""


def shared(tensors: "Inputs", ranks: int, causal: bool) -> list[tuple[Any, ...]]:
    """(q, k, v, tokens) of each rank."""
    parts = (ring.cut_by_positions(each, ranks, causal) for each in tensors)
    return [(*part, tensors[0].shape[-2]) for part in zip(*parts, strict=True)]


def values(
    expect: Expect, told: "list[Any]", tensors: "Inputs", ranks: int, causal: bool, label: str
) -> None:
    """(out, lse) of every rank are those of attention over the whole sequence, for its own queries."""
    from kernels_ref.naive import attention

    wide = tuple(each.double() for each in tensors)
    out, lse = attention(*wide, causal=causal)
    low_out, low_lse = attention(*tensors, causal=causal)
    exponent = float(lse.abs().max())
    expect.that(len(told) == ranks, "no value of every rank came back")
    held = ring.positions(tensors[0].shape[-2], ranks, causal)
    for rank, own in enumerate(held):
        got, where = told[rank], f"{label}, rank {rank}"
        expect.that(
            isinstance(got, list | tuple) and len(got) == 2, f"{where}: a pair is needed, out and lse"
        )
        low = low_out.to(tensors[0].dtype)[..., own, :]
        try:
            expect.close(got[0], out[..., own, :], low, case=where, name="out", exponent=exponent)
            expect.close(
                got[1], lse[..., own], low_lse[..., own], case=where, name="lse", rows=-1, exponent=exponent
            )
        except CheckFailed as failed:
            right = [(out[..., each, :], lse[..., each]) for each in held]
            raise CheckFailed(failed.message, symptom=_symptom(told, right, wide, causal)) from None


def _symptom(told: "list[Any]", right: "list[tuple[Tensor, Tensor]]", wide: Any, causal: bool) -> str:
    """The usual mistake that the answers are near to; one rank may tell two apart that are alike on another."""
    q, k, v = wide
    for part, name in enumerate(("out", "lse")):
        for rank, got in enumerate(told):
            if not isinstance(got, list | tuple) or len(got) != 2:
                continue
            suspects = ring.ring_attention_suspects(q, k, v, len(told), rank, causal)[name]
            symptom = nearest(got[part], right[rank][part], suspects)
            if symptom:
                return symptom
    return ""


def traffic(expect: Expect, seen: Any, tensors: "Inputs", ranks: int, label: str) -> None:
    """Keys and values made n − 1 hops between neighbours, and nothing else was sent."""
    sent = 0
    for rank, calls in enumerate(seen.collectives):
        where = f"{label}, rank {rank}"
        for call in calls:
            if call.kind in ("send", "recv"):
                near = call.peer in ((rank + 1) % ranks, (rank - 1) % ranks)
                expect.that(
                    near,
                    f"{where}: it exchanges with a rank that is no neighbour on the ring",
                    symptom="ring.no_neighbour",
                )
                sent += call.bytes if call.kind == "send" else 0
            elif call.kind != "barrier":
                expect.that(
                    False,
                    f"{where}: it makes an {call.kind}; keys and values are passed on by send and receive",
                    symptom=f"ring.{call.kind}",
                )
    needed = (ranks - 1) * (tensors[1].nbytes + tensors[2].nbytes)
    sizes = "" if expect.hidden else f": {sent:,} bytes, and {ranks - 1} hops of K and V are {needed:,}"
    expect.that(
        sent <= needed,
        f"{label}: the ranks send more than K and V, n − 1 times{sizes}",
        symptom="ring.too_much_sent",
    )
    expect.that(
        sent == needed,
        f"{label}: the ranks send less than K and V, n − 1 times{sizes}",
        symptom="ring.too_little_sent",
    )
    expect.measured("bytes sent, all ranks", sent, "B")


def memory(expect: Expect, seen: Any, tensors: "Inputs", ranks: int, label: str) -> None:
    """No rank had the scores of its queries with all keys at once."""
    *leading, tokens, _ = tensors[0].shape
    block = (-(-tokens // ranks)) ** 2 * 4
    for each in leading:
        block *= each
    for rank, peak in enumerate(seen.peak_bytes):
        sizes = "" if expect.hidden else f": {peak:,} bytes at once, and a block of scores is {block:,}"
        expect.that(
            peak <= MOST_SCORE_BLOCKS * block,
            f"{label}, rank {rank}: scores of the whole sequence are alive at once{sizes}",
            symptom="ring.scores_of_the_whole_sequence",
        )
        expect.measured(f"peak bytes of rank {rank}", peak, "B")


def counted(expect: Expect, seen: Any) -> "list[dict[str, Any]]":
    """What the scenario `counted` told of each rank.

    Raises:
        CheckFailed: it is no such report.
    """
    told = list(seen.values)
    whole = all(
        isinstance(each, dict) and "value" in each and type(each.get("matmul_flops")) is int for each in told
    )
    expect.that(whole, "no whole report of the ranks came back")
    return told


def work(expect: Expect, told: "list[dict[str, Any]]", tensors: "Inputs", ranks: int, label: str) -> None:
    """Every rank multiplied 2n + 1 of its 4n pairs of chunks."""
    *leading, tokens, width = tensors[0].shape
    pair = 4 * (tokens // (2 * ranks)) ** 2 * width
    for each in leading:
        pair *= each
    for rank, report in enumerate(told):
        flops = report["matmul_flops"]
        pairs = flops / pair
        found = "" if expect.hidden else f": {pairs:.3g} pairs of chunks, and {2 * ranks + 1} are needed"
        expect.that(
            pairs <= 2 * ranks + 1 + SPARE_PAIRS,
            f"{label}, rank {rank}: it multiplies keys that its queries cannot see{found}",
            symptom="ring.nothing_skipped",
        )
        expect.measured(f"pairs of chunks of rank {rank}", round(pairs, 2))
