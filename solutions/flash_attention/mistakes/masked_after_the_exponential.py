"""The mask is applied to P after the sum was taken."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "You set P to 0 after the sum has counted it. Put −inf into the scores, before the maximum and the "
    "exponential."
)
FAILS = ("test_causal_is_aligned_bottom_right",)
SYMPTOMS = ("masked_after_exp",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, mask_late=True)
