"""The fused kernel still writes what its ops hand on."""

from collections.abc import Sequence

from specs import FusedCost, Op

from ..fusion import fused_cost as right

EXERCISE = "fusion"
HINT = (
    "Your fused kernel writes tensors that only the chain itself reads. They stay on the chip, unless "
    "they are in keep."
)
FAILS = (
    "test_what_one_op_writes_and_a_later_one_reads_stays_on_the_chip",
    "test_an_input_that_several_ops_read_is_read_once",
    "test_what_the_backward_pass_wants_is_written_and_not_read_back",
    "test_every_tensor_that_nobody_in_the_chain_reads_is_an_output",
    "test_any_chain",
    "test_single_ops_updates_in_place_and_needless_keeps",
)


def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    return right(ops, [name for op in ops for name in op.writes])
