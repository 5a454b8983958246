# %% [markdown]
# # Attention in tiles
#
# Sections 4 and 5 of the handout: forward and backward in plain PyTorch, tile by tile, as the kernel will do it.

# %%
"""FlashAttention in PyTorch, over tiles: the scores of one tile exist at a time, never the whole matrix."""

import math

import torch
from torch import Tensor


# %% tags=["instructor"]
def _tiles(length: int, size: int) -> list[slice]:
    """Slices of `size` rows that cover `length`; the last may be shorter."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _tile_scores(q, k, scale, rows, columns, shift, causal):
    """Scaled scores of one tile in the format of q, −inf where a query must not look."""
    scores = scale * (q[..., rows, :] @ k[..., columns, :].mT)
    if causal and columns.stop - 1 > rows.start + shift:  # only a tile that the diagonal cuts needs a mask
        queries = torch.arange(rows.start, rows.stop, device=q.device)[:, None]
        keys = torch.arange(columns.start, columns.stop, device=q.device)
        scores = scores.masked_fill(keys > queries + shift, -math.inf)
    return scores


def _attend(q, k, v, block_q, block_k, causal, scale):
    """`tiled_attention`; here because `TiledAttention` needs it too."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    wide = torch.promote_types(q.dtype, torch.float32)
    q_wide, k_wide, v_wide = q.to(wide), k.to(wide), v.to(wide)
    shift = k.shape[-2] - q.shape[-2]
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    for rows in _tiles(q.shape[-2], block_q):
        largest = q_wide.new_full((*q.shape[:-2], rows.stop - rows.start), -math.inf)
        total = torch.zeros_like(largest)
        acc = torch.zeros_like(q_wide[..., rows, :])
        for columns in _tiles(k.shape[-2], block_k):
            if causal and columns.start > rows.stop - 1 + shift:
                break  # the last query of this tile sees none of these keys, nor any later ones
            scores = _tile_scores(q_wide, k_wide, scale, rows, columns, shift, causal)
            grown = torch.maximum(largest, scores.amax(-1))
            subtracted = grown.masked_fill(grown == -math.inf, 0.0)
            p = torch.exp(scores - subtracted[..., None])
            rescale = torch.exp(largest - subtracted)
            total = total * rescale + p.sum(-1)
            acc = acc * rescale[..., None] + p @ v_wide[..., columns, :]
            largest = grown
        out[..., rows, :] = (acc / total.masked_fill(total == 0, 1.0)[..., None]).to(q.dtype)
        lse[..., rows] = (largest + torch.log(total)).float()
    return out, lse


def _attend_backward(q, k, v, out, lse, grad_out, block_q, block_k, causal, scale):
    """`tiled_backward`; here because `TiledAttention` needs it too."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    wide = torch.promote_types(q.dtype, torch.float32)
    q_wide, k_wide, v_wide, grad_wide = q.to(wide), k.to(wide), v.to(wide), grad_out.to(wide)
    shift = k.shape[-2] - q.shape[-2]
    delta = (grad_wide * out.to(wide)).sum(-1)
    subtracted = lse.masked_fill(lse == -math.inf, 0.0).to(wide)  # a row without keys has P = exp(−inf) = 0
    dq, dk, dv = torch.zeros_like(q_wide), torch.zeros_like(k_wide), torch.zeros_like(v_wide)
    for columns in _tiles(k.shape[-2], block_k):
        for rows in _tiles(q.shape[-2], block_q):
            if causal and columns.start > rows.stop - 1 + shift:
                continue
            scores = _tile_scores(q_wide, k_wide, scale, rows, columns, shift, causal)
            p = torch.exp(scores - subtracted[..., rows, None])
            dv[..., columns, :] += p.mT @ grad_wide[..., rows, :]
            dp = grad_wide[..., rows, :] @ v_wide[..., columns, :].mT
            ds = p * (dp - delta[..., rows, None])
            dq[..., rows, :] += scale * (ds @ k_wide[..., columns, :])
            dk[..., columns, :] += scale * (ds.mT @ q_wide[..., rows, :])
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)


# %% nbgrader={"grade": false, "grade_id": "flash_attention.tiled_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
    ### BEGIN SOLUTION
    return _attend(q, k, v, block_q, block_k, causal, scale)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "flash_attention.tiled_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
    ### BEGIN SOLUTION
    return _attend_backward(q, k, v, out, lse, grad_out, block_q, block_k, causal, scale)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "flash_attention.TiledAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class TiledAttention(torch.autograd.Function):
    """Both passes as one node of autograd's graph: `out = TiledAttention.apply(q, k, v, causal)`.

    q, k, v: as in `tiled_attention`; scale 1/√D, tiles as you like. `apply` returns out alone, and the backward
    pass gives dq, dk and dv. What stays alive between the passes is q, k, v, out and lse.
    """

    @staticmethod
    def forward(ctx, q, k, v, causal=False):
        """Compute out, and keep for backward what it needs. `tiled_attention` may do the work."""
        ### BEGIN SOLUTION
        out, lse = _attend(q, k, v, 64, 64, causal, None)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal = causal
        return out
        ### END SOLUTION

    @staticmethod
    def backward(ctx, grad_out):
        """Return one gradient for each argument of `forward` behind ctx; None for `causal`."""
        ### BEGIN SOLUTION
        return *_attend_backward(*ctx.saved_tensors, grad_out, 64, 64, ctx.causal, None), None
        ### END SOLUTION
