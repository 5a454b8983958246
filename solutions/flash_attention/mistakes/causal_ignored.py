"""The causal mask is forgotten."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = "With causal=True your queries still see all keys."
FAILS = (
    "test_causal_is_aligned_bottom_right",
    "test_a_query_that_sees_no_key_gives_zero",
    "test_the_future_does_not_matter",
)
SYMPTOMS = ("not_masked",)


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
    return attend(q, k, v, block_q, block_k, False, scale)
