"""The backward pass makes the whole matrices."""

from typing import TYPE_CHECKING

from ._tiles import go_back

EXERCISE = "tiled_backward"
HINT = (
    "You compute P, dP and dS of all pairs at once. Keep the two loops: what is needed of a tile is "
    "computed and used there."
)
FAILS = ("test_backward_never_makes_the_whole_matrix",)
SYMPTOMS = ("whole_matrix_backward",)


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
    return go_back(q, k, v, out, lse, grad_out, q.shape[-2], k.shape[-2], causal, scale)
