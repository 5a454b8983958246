"""The last keys are dropped where tiles do not divide T_k."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "You go through T_k // block_k tiles: the keys behind the last whole tile are never seen. Round up, "
    "and let the last tile be short."
)
FAILS = (
    "test_every_key_counts_wherever_it_stands",
    "test_any_attention_in_any_tiles",
)
SYMPTOMS = ("tail_dropped",)


if TYPE_CHECKING:
    from torch import Tensor


def tiled_attention(
    q: "Tensor",
    k: "Tensor",
    v: "Tensor",
    block_q: int = 64,
    block_k: int = 64,
    causal: bool = False,
    scale: float | None = None,
) -> "tuple[Tensor, Tensor]":
    return attend(q, k, v, block_q, block_k, causal, scale, keep_tail=False)
