"""The fused kernel is taken to do the FLOPs of its largest op only."""

from collections.abc import Sequence

from specs import FusedCost, Op

from ..fusion import fused_cost as right

EXERCISE = "fusion"
HINT = "Fusing saves bytes and no FLOPs: the kernel does all that its ops did."
FAILS = (
    "test_what_one_op_writes_and_a_later_one_reads_stays_on_the_chip",
    "test_an_input_that_several_ops_read_is_read_once",
    "test_what_the_backward_pass_wants_is_written_and_not_read_back",
    "test_every_tensor_that_nobody_in_the_chain_reads_is_an_output",
    "test_any_chain",
    "test_single_ops_updates_in_place_and_needless_keeps",
)


def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    got = right(ops, keep)
    flops = max((op.flops for op in ops), default=0)
    return FusedCost(before=got.before, after=got.after.model_copy(update={"flops": flops}))
