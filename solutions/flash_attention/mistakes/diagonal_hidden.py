"""A query does not see its own key."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "Your mask hides the diagonal. A query sees its own position: only keys with j > i + T_k − T_q are "
    "hidden."
)
FAILS = ("test_causal_is_aligned_bottom_right",)
SYMPTOMS = ("diagonal_hidden",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, seen_ahead=lambda shift: shift - 1)
