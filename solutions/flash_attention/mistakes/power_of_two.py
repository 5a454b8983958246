"""The exponential has base 2, and the scale lacks log2(e)."""

import math
from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "Your weights are powers of 2. exp(x) is 2^(x · log2(e)): fold log2(e) = 1.4427 into the scale, or "
    "use exp."
)
FAILS = (
    "test_scores_are_scaled_once",
    "test_any_attention_in_any_tiles",
)
SYMPTOMS = ("base_two",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, factor=lambda scale: scale * math.log(2))
