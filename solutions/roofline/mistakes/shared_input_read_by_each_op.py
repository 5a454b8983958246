"""An input is read once for each op that uses it."""

from collections.abc import Sequence

from specs import FusedCost, Op

from ..fusion import fused_cost as right

EXERCISE = "fusion"
HINT = "You read an input again for each op that uses it. One kernel reads it once."
FAILS = (
    "test_an_input_that_several_ops_read_is_read_once",
    "test_what_the_backward_pass_wants_is_written_and_not_read_back",
    "test_any_chain",
)


def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    got = right(ops, keep)
    written: set[str] = set()
    bytes_read: int | float = 0
    for op in ops:
        bytes_read += sum(size for name, size in op.reads.items() if name not in written)
        written |= op.writes.keys()
    return FusedCost(before=got.before, after=got.after.model_copy(update={"bytes_read": bytes_read}))
