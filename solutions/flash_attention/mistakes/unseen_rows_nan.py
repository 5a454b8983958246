"""A query that sees no key gives NaN."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = (
    "For a query without keys you compute −inf − (−inf), and divide 0 by 0. Subtract 0 where the maximum "
    "is −inf, and divide by 1 where the sum is 0."
)
FAILS = ("test_a_query_that_sees_no_key_gives_zero",)
SYMPTOMS = ("unseen_nan",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, nan_where_unseen=True)
