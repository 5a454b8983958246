# %% [markdown]
# # FlashAttention, backward
#
# Section 8 of the handout: the scores are computed again, from q, k and the logsumexp that the forward pass saved.

# %%
"""FlashAttention's backward pass in Triton, and the autograd Function that joins it to the forward pass."""

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from .forward import flash_forward

LOG2_E = math.log2(math.e)


# %%
def flash_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of attention by recomputation, in Triton kernels of your own.

    With P = exp(scores - lse), delta = sum over D of out · grad_out and dP = grad_out vᵀ:
    dV = Pᵀ grad_out, dS = P · (dP - delta), dQ = dS k · scale, dK = dSᵀ q · scale.

    Write the kernels above this function. No temporary of T_q × T_k elements, no autograd, no attention of a library.

    Args:
        q, k, v, causal, scale: as they were given to `flash_forward`.
        out, lse: what `flash_forward` returned.
        grad_out: gradient of out, of its shape; any strides.

    Returns:
        dq, dk, dv in the shapes and dtypes of q, k and v. Heads that share k and v add up in dk and dv. A query that
        sees no key has gradient 0 and gives none.

    Source: Dao et al. 2022 (arXiv 2205.14135), appendix B.2 and algorithm 4; Dao 2023 (arXiv 2307.08691), algorithm 2.
    """
    raise NotImplementedError("write me")


# %%
class FlashAttention(torch.autograd.Function):
    """`FlashAttention.apply(q, k, v, is_causal)`: your forward and backward passes as one node of autograd's graph.

    The convention is that of Stanford's CS336, assignment 2: a Function written there passes here. The tensors have
    shape (..., T, D); the output is out alone, and lse is saved for the backward pass with q, k, v and out.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False) -> Tensor:
        """Return out of `flash_forward`, and save what backward needs."""
        raise NotImplementedError("write me")

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Return the gradients of q, k and v by `flash_backward`, and None for is_causal."""
        raise NotImplementedError("write me")
