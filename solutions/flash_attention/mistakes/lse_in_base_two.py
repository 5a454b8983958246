"""lse is a logarithm in base 2."""

import math
from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = "Your lse is in base 2. It is a natural logarithm: multiply by ln(2) = 0.6931."
FAILS = (
    "test_lse_is_the_natural_logarithm_of_the_whole_sum",
    "test_any_attention_in_any_tiles",
)
SYMPTOMS = ("lse_in_base_two",)


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
    return attend(
        q,
        k,
        v,
        block_q,
        block_k,
        causal,
        scale,
        lse_of=lambda largest, total: (largest + total.log()) / math.log(2),
    )
