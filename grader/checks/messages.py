"""Checks of collectives that are made of messages: the sums, what was sent, and who sent it.

Inputs hold small integers, whatever the format: their sums are exact in any order. What was sent is recorded on the
ranks; it is looked at only where the values of the same call are right, and in an official run the bytes are counted
outside of the ranks as well.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from grader.checks.expect import Expect
from grader.checks.quantities import show

if TYPE_CHECKING:
    from torch import Tensor

Suspects = dict[str, "Callable[[int], Tensor]"]
"""By symptom: what rank r would return by a usual mistake."""


def results(
    expect: Expect,
    seen: Any,
    inputs: "Sequence[Tensor]",
    right: "Callable[[int], Tensor]",
    case: str,
    suspects: Suspects | None = None,
) -> None:
    """Every rank's result is right, in memory of its own, and its input is as it was.

    Args:
        seen: of the scenario `with_input` or `subgroup`.
        inputs: of those ranks that called the function, in order.
        right: the result of each of them.
    """
    import torch

    pairs = [value for value in seen.values if isinstance(value, tuple) and len(value) == 2]
    pairs = [pair for pair in pairs if pair[1] is not None]
    expect.that(len(pairs) == len(inputs), f"{case}: not every rank returned its result")
    for rank, ((got, after), given) in enumerate(zip(pairs, inputs, strict=True)):
        wanted, who = right(rank), f"{case}: rank {rank}"
        expect.that(isinstance(got, torch.Tensor), f"{who} returns no tensor")
        expect.that(
            got.dtype == wanted.dtype,
            f"{who} returns {got.dtype}, and the input is {wanted.dtype}",
            symptom="messages.dtype",
        )
        expect.that(
            got.shape == wanted.shape,
            f"{who} returns another shape than is asked for"
            + ("" if expect.hidden else f": {tuple(got.shape)}, and not {tuple(wanted.shape)}"),
            symptom="messages.shape",
        )
        if not torch.equal(got, wanted):
            symptoms = [name for name, guess in (suspects or {}).items() if _same(got, guess(rank))]
            expect.that(
                False,
                f"{who}: elements are wrong" + ("" if expect.hidden else _which(got, wanted)),
                symptom=symptoms[0] if symptoms else "",
            )
        expect.that(
            got.numel() == 0 or got.untyped_storage().data_ptr() != after.untyped_storage().data_ptr(),
            f"{who} returns the memory of its input, and a tensor of its own is needed",
            symptom="messages.same_memory",
        )
        expect.that(torch.equal(after, given), f"{who} changes its input", symptom="messages.input_changed")


def _which(got: "Tensor", wanted: "Tensor") -> str:
    """How many elements differ, and the first of them; both tensors have one shape."""
    differs = (got != wanted).reshape(-1)
    first = int(differs.int().argmax())
    is_now, should_be = (show(each.reshape(-1)[first].item()) for each in (got, wanted))
    count = f"{int(differs.sum())} of {wanted.numel()}"
    return f", {count}: number {first} of the flattened tensor is {is_now}, and should be {should_be}"


def _same(got: "Tensor", guess: "Tensor") -> bool:
    import torch

    return got.shape == guess.shape and torch.equal(got, guess.to(got.dtype))


def messages_alone(expect: Expect, seen: Any, case: str) -> None:
    """No collective but send and recv was called."""
    for rank, calls in enumerate(seen.collectives):
        others = sorted({call.kind for call in calls} - {"send", "recv"})
        expect.that(
            not others,
            f"{case}: rank {rank} calls {', '.join(others)}: only send and receive are allowed",
            symptom="messages.collective",
        )


def neighbours(expect: Expect, seen: Any, case: str) -> None:
    """All ranks send to the next rank of the ring, or all to the one before."""
    size = len(seen.collectives)
    steps = [
        (rank, (call.peer - rank) % size)
        for rank, calls in enumerate(seen.collectives)
        for call in calls
        if call.kind == "send" and call.bytes and call.peer is not None
    ]
    allowed = {steps[0][1]} & {1, size - 1} if steps else set()
    for rank, step in steps:
        expect.that(
            step in allowed,
            f"{case}: rank {rank} sends to rank {(rank + step) % size}: in a ring all ranks send to the next one",
            symptom="messages.not_neighbours",
        )


def sent(expect: Expect, seen: Any, total_bytes: int, most_bytes: int, formula: str, case: str) -> None:
    """All ranks together send what the formula says, in messages alone, and none sends more than its share.

    Args:
        total_bytes: of all ranks.
        most_bytes: of one rank, an odd element of a ragged piece allowed for.
        formula: of the total, in words.
    """
    messages_alone(expect, seen, case)
    by_rank = [sum(call.bytes for call in calls if call.kind == "send") for calls in seen.collectives]
    total = sum(by_rank)
    how = "more" if total > total_bytes else "less"
    text = f"{case}: the ranks together send {how} than {formula}"
    if not expect.hidden:
        text += f": {total:,} bytes, and not {total_bytes:,}"
    expect.that(total == total_bytes, text, symptom=f"messages.{how}_bytes")
    rank = max(range(len(by_rank)), key=by_rank.__getitem__)
    text = f"{case}: rank {rank} sends more than its share"
    if not expect.hidden:
        text += f": {by_rank[rank]:,} of the {total:,} bytes, and {most_bytes:,} at most are its own"
    expect.that(by_rank[rank] <= most_bytes, text, symptom="messages.one_rank_sends_most")


def of_all_reduce(expect: Expect, seen: Any, inputs: "Sequence[Tensor]", case: str) -> None:
    """An all-reduce of these inputs sent 2 (n − 1) times a tensor in all, each rank 2 (n − 1)/n of it."""
    size_bytes, piece_bytes, ranks = _sizes(inputs[0], len(inputs))
    total = 2 * (ranks - 1) * size_bytes
    sent(expect, seen, total, 2 * (size_bytes - piece_bytes), "2 (n − 1) times the tensor", case)


def of_half(expect: Expect, seen: Any, whole: "Tensor", ranks: int, case: str) -> None:
    """A reduce-scatter or all-gather of this tensor sent n − 1 times it in all, each rank (n − 1)/n of it."""
    size_bytes, piece_bytes, _ = _sizes(whole, ranks)
    # Who sends its own piece to each of the others may have the largest one.
    largest_bytes = piece_bytes + whole.element_size() * bool(whole.numel() % ranks)
    most = max(size_bytes - piece_bytes, (ranks - 1) * largest_bytes)
    sent(expect, seen, (ranks - 1) * size_bytes, most, "(n − 1) times the tensor", case)


def _sizes(whole: "Tensor", ranks: int) -> tuple[int, int, int]:
    """(bytes of the tensor, of its smallest piece, ranks)."""
    element_bytes = whole.element_size()
    return whole.numel() * element_bytes, whole.numel() // ranks * element_bytes, ranks


# ---- what usual mistakes give


def ring_with(fault: str, inputs: "Sequence[Tensor]") -> "Callable[[int], Tensor]":
    """The results of a ring all-reduce with a fault: "remainder_dropped", "one_step_short" or "own_piece_twice"."""
    import torch

    size, shape = len(inputs), inputs[0].shape
    flat = [each.reshape(-1).clone() for each in inputs]
    elements = flat[0].numel()
    if fault == "remainder_dropped":
        whole = elements // size * size
        total = torch.stack([each[:whole] for each in flat]).sum(0, dtype=flat[0].dtype)
        return lambda rank: torch.cat([total, flat[rank][whole:]]).reshape(shape)
    pieces = [list(torch.tensor_split(each, size)) for each in flat]
    steps = size - 2 if fault == "one_step_short" else size - 1
    for step in range(steps):
        sending = [pieces[rank][(rank - step - 1) % size].clone() for rank in range(size)]
        for rank in range(size):
            piece = (rank - step - 2) % size
            pieces[rank][piece] = pieces[rank][piece] + sending[(rank - 1) % size]
    owned = [pieces[rank][rank] for rank in range(size)]
    if fault == "own_piece_twice":
        owned = [owned[rank] + torch.tensor_split(flat[rank], size)[rank] for rank in range(size)]
    gathered = torch.cat(owned).reshape(shape)
    return lambda rank: gathered


def usual_mistakes(inputs: "Sequence[Tensor]") -> Suspects:
    """What the usual mistakes of a ring all-reduce return."""
    faults = ("remainder_dropped", "one_step_short", "own_piece_twice")
    return {f"messages.{fault}": ring_with(fault, inputs) for fault in faults}
