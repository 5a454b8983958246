"""The backward pass forgets the mask."""

from typing import TYPE_CHECKING

from ._tiles import go_back

EXERCISE = "tiled_backward"
HINT = (
    "The mask belongs to the backward pass too: without it exp(S − lse) is not 0 for keys that a query "
    "did not see."
)
FAILS = ("test_causal_gradients_are_aligned_bottom_right",)
SYMPTOMS = ("backward_not_masked",)


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
    return go_back(q, k, v, out, lse, grad_out, block_q, block_k, False, scale)
