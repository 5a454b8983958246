"""Each tile of keys overwrites dQ."""

from typing import TYPE_CHECKING

from ._tiles import go_back

EXERCISE = "tiled_backward"
HINT = "Your dQ is what the last tile of keys gives: every tile adds to it, += and not =."
FAILS = (
    "test_gradients_add_up_over_tiles",
    "test_any_gradients_in_any_tiles",
)
SYMPTOMS = ("dq_of_last_tile",)


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
    return go_back(q, k, v, out, lse, grad_out, block_q, block_k, causal, scale, dq_added=False)
