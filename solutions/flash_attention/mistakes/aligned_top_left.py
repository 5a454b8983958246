"""The causal mask is aligned top-left."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "With T_q ≠ T_k your diagonal begins at the first key. It ends at the last one: query i sees the keys"
    " up to i + T_k − T_q."
)
FAILS = (
    "test_causal_is_aligned_bottom_right",
    "test_a_query_that_sees_no_key_gives_zero",
)
SYMPTOMS = ("aligned_top_left",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, seen_ahead=lambda shift: 0)
