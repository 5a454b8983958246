"""A query that saw no key gives NaN."""

from typing import TYPE_CHECKING

from ._tiles import go_back

EXERCISE = "tiled_backward"
HINT = (
    "Where lse is −inf you compute −inf − (−inf), and NaN goes into every dK and dV. Subtract 0 there: P "
    "is then exp(−inf) = 0."
)
FAILS = ("test_a_query_that_sees_no_key_has_no_gradient",)
SYMPTOMS = ("unseen_nan",)


if TYPE_CHECKING:
    from torch import Tensor


def tiled_backward(
    q: "Tensor",
    k: "Tensor",
    v: "Tensor",
    out: "Tensor",
    lse: "Tensor",
    grad_out: "Tensor",
    block_q: int = 64,
    block_k: int = 64,
    causal: bool = False,
    scale: float | None = None,
) -> "tuple[Tensor, Tensor, Tensor]":
    return go_back(q, k, v, out, lse, grad_out, block_q, block_k, causal, scale, nan_where_unseen=True)
