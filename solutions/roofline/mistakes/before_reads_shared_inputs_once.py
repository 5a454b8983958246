"""Separate kernels are taken to share what they read."""

from collections.abc import Sequence

from specs import FusedCost, Op

from ..fusion import fused_cost as right

EXERCISE = "fusion"
HINT = (
    "In your chain before fusing an input is read once. Separate kernels share nothing: each reads all "
    "of its inputs."
)
FAILS = (
    "test_an_input_that_several_ops_read_is_read_once",
    "test_what_the_backward_pass_wants_is_written_and_not_read_back",
    "test_any_chain",
    "test_single_ops_updates_in_place_and_needless_keeps",
)


def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    got = right(ops, keep)
    reads = {name: size for op in ops for name, size in op.reads.items()}
    before = got.before.model_copy(update={"bytes_read": sum(reads.values())})
    return FusedCost(before=before, after=got.after)
