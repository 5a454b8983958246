"""A kept tensor is written, and read back once where a later op uses it."""

from collections.abc import Sequence

from specs import FusedCost, Op

from ..fusion import fused_cost as right

EXERCISE = "fusion"
HINT = (
    "A tensor in keep is written for somebody else. The kernel itself still has it on the chip and "
    "does not read it."
)
FAILS = (
    "test_what_the_backward_pass_wants_is_written_and_not_read_back",
    "test_every_tensor_that_nobody_in_the_chain_reads_is_an_output",
    "test_any_chain",
    "test_single_ops_updates_in_place_and_needless_keeps",
)


def _inner(ops: Sequence[Op]) -> dict[str, int | float]:
    """Bytes of every tensor that an op writes and a later one reads."""
    found: dict[str, int | float] = {}
    written: dict[str, int | float] = {}
    for op in ops:
        found |= {name: size for name, size in op.reads.items() if name in written}
        written |= op.writes
    return found


def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    got = right(ops, keep)
    back = sum(size for name, size in _inner(ops).items() if name in keep)
    after = got.after.model_copy(update={"bytes_read": got.after.bytes_read + back})
    return FusedCost(before=got.before, after=after)
