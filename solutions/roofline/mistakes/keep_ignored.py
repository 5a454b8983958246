"""Tensors that somebody outside wants are not written."""

from collections.abc import Sequence

from specs import FusedCost, Op

from ..fusion import fused_cost as right

EXERCISE = "fusion"
HINT = (
    "What is in keep has to reach HBM: the fused kernel writes it, even though its own ops need it no more."
)
FAILS = (
    "test_what_the_backward_pass_wants_is_written_and_not_read_back",
    "test_every_tensor_that_nobody_in_the_chain_reads_is_an_output",
    "test_any_chain",
    "test_single_ops_updates_in_place_and_needless_keeps",
)


def fused_cost(ops: Sequence[Op], keep: Sequence[str] = ()) -> FusedCost:
    return right(ops)
