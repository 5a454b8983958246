"""Gradients are accumulated in the format of the inputs."""

from typing import TYPE_CHECKING

from ._tiles import go_back

EXERCISE = "tiled_backward"
HINT = (
    "You add up in the format of the inputs: in 16 bits a sum over many tiles loses its small terms. Sum "
    "in fp32, convert at the end."
)
FAILS = ("test_half_precision_gradients_are_summed_in_fp32",)
SYMPTOMS = ("gradients_in_half",)


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
    return go_back(q, k, v, out, lse, grad_out, block_q, block_k, causal, scale, sum_in_half=True)
