"""The maximum is not subtracted."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = "exp(S) overflows fp32 above 88.7. Subtract the running maximum inside the exponential: exp(S − m)."
FAILS = ("test_logits_of_ten_thousand_do_not_overflow",)
SYMPTOMS = ("overflow",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, subtract=False)
