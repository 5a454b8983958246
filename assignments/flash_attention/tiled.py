# %% [markdown]
# # Attention in tiles
#
# Sections 4 and 5 of the handout: forward and backward in plain PyTorch, tile by tile, as the kernel will do it.

# %%
"""FlashAttention in PyTorch, over tiles: the scores of one tile exist at a time, never the whole matrix."""

import math

import torch
from torch import Tensor


# %%
def tiled_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    block_q: int = 64,
    block_k: int = 64,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(scale · QKᵀ)V over tiles of `block_q` queries and `block_k` keys; the scores of one tile at a time.

    Args:
        q: (..., T_q, D); k, v: (..., T_k, D), with the same leading dimensions, any number of them. All three in
            fp16, bf16 or fp32.
        block_q, block_k: rows of a tile of Q, and of one of K and V. They need not divide T_q and T_k.
        causal: the last query stands at the last key (aligned bottom-right): query i sees the keys
            j ≤ i + T_k − T_q.
        scale: factor on QKᵀ; 1/√D where None.

    Returns:
        (out, lse): out as large as q and in its format; lse, (..., T_q) in fp32, is the natural logarithm of
        Σⱼ exp(scale · qᵢ·kⱼ) over the keys that a query sees. Scores, statistics and the sum of P·V are fp32. A
        query that sees no key has out 0 and lse −inf.

    No tensor that grows with T_q · T_k may be made, be it for one operation only, and a mask is such a tensor too.
    torch's own attention does not count.

    Source: FlashAttention-2 (Dao 2023), algorithm 1.
    """
    raise NotImplementedError("write me")


# %%
def tiled_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    block_q: int = 64,
    block_k: int = 64,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `tiled_attention`'s out, from what it returned: P is computed again, tile by tile.

    With P = exp(scale · QKᵀ − lse) and delta = Σ over D of out · grad_out, one number a query:

        dV = Pᵀ·dO      dP = dO·Vᵀ      dS = P · (dP − delta)      dQ = scale · dS·K      dK = scale · dSᵀ·Q

    Args:
        q, k, v, block_q, block_k, causal, scale: as in `tiled_attention`.
        out, lse: what `tiled_attention` returns for them.
        grad_out: gradient of out, as large as out and in its format.

    Returns:
        (dq, dk, dv), as large as q, k and v and in their format; sums are fp32. A query that sees no key adds
        nothing to dk and dv, and its dq is 0.

    No tensor that grows with T_q · T_k may be made.

    Source: FlashAttention-2 (Dao 2023), algorithm 2.
    """
    raise NotImplementedError("write me")


# %%
class TiledAttention(torch.autograd.Function):
    """Both passes as one node of autograd's graph: `out = TiledAttention.apply(q, k, v, causal)`.

    q, k, v: as in `tiled_attention`; scale 1/√D, tiles as you like. `apply` returns out alone, and the backward
    pass gives dq, dk and dv. What stays alive between the passes is q, k, v, out and lse.
    """

    @staticmethod
    def forward(ctx, q, k, v, causal=False):
        """Compute out, and keep for backward what it needs. `tiled_attention` may do the work."""
        raise NotImplementedError("write me")

    @staticmethod
    def backward(ctx, grad_out):
        """Return one gradient for each argument of `forward` behind ctx; None for `causal`."""
        raise NotImplementedError("write me")
