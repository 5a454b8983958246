"""The fused kernel still reads what its ops hand on."""

from collections.abc import Sequence

from specs import FusedCost, Op

from ..fusion import fused_cost as right

EXERCISE = "fusion"
HINT = "Your fused kernel reads tensors that it has just made. They are on the chip already."
FAILS = (
    "test_what_one_op_writes_and_a_later_one_reads_stays_on_the_chip",
    "test_an_input_that_several_ops_read_is_read_once",
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
    bytes_read = got.after.bytes_read + sum(_inner(ops).values())
    return FusedCost(before=got.before, after=got.after.model_copy(update={"bytes_read": bytes_read}))
