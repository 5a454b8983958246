"""A query sees the key after its own."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "Your mask lets every query see one key too many: keys with j > i + T_k − T_q are hidden, and not "
    "only those with j > i + 1 + T_k − T_q."
)
FAILS = ("test_causal_is_aligned_bottom_right",)
SYMPTOMS = ("one_key_too_many",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, seen_ahead=lambda shift: shift + 1)
