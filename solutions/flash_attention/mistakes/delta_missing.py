"""delta is not subtracted."""

from typing import TYPE_CHECKING

from ._tiles import go_back

EXERCISE = "tiled_backward"
HINT = (
    "dS = P · (dP − delta): you leave delta out, the part of the softmax's gradient that comes through "
    "the sum."
)
FAILS = (
    "test_gradients_are_those_of_attention",
    "test_any_gradients_in_any_tiles",
)
SYMPTOMS = ("delta_missing",)


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
    return go_back(q, k, v, out, lse, grad_out, block_q, block_k, causal, scale, use_delta=False)
