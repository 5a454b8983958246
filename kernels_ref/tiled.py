"""FlashAttention in plain PyTorch: one pass over tiles of keys, never T×T; the oracle of the tiled rungs.

Conventions and shapes are those of `kernels_ref.naive`. Everything is computed in fp32, or fp64 for fp64
inputs, so this also says what tiling alone costs in accuracy: next to nothing.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from kernels_ref.naive import check_shapes, softmax_scale


def tiled_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    query_tile: int = 64,
    key_tile: int = 64,
) -> tuple[Tensor, Tensor]:
    """Attention and its lse by an online softmax over tiles of keys.

    q is (..., H, T_q, D), k and v (..., H_kv, T_k, D). Returns out (..., H, T_q, D) and lse (..., H, T_q), in
    fp32 or fp64. The largest temporary of a head is query_tile × key_tile.

    Raises:
        ValueError: shapes do not fit together.

    Source: Dao 2023 (FlashAttention-2), algorithm 1: the sum is divided by once, at the end.
    """
    check_shapes(q, k, v)
    wide = torch.promote_types(q.dtype, torch.float32)
    factor = softmax_scale(q, scale)
    groups = _group_heads(q.to(wide), k)
    keys, values = _beside_groups(k.to(wide), q), _beside_groups(v.to(wide), q)
    out = torch.zeros_like(groups)
    lse = groups.new_full(groups.shape[:-1], -math.inf)
    offset = k.shape[-2] - q.shape[-2]
    for rows in _tiles(q.shape[-2], query_tile):
        tile = groups[..., rows, :] * factor
        acc = torch.zeros_like(tile)
        total = tile.new_zeros(*tile.shape[:-1], 1)
        largest = tile.new_full((*tile.shape[:-1], 1), -math.inf)
        for columns in _key_tiles(rows, k.shape[-2], key_tile, offset, causal):
            scores = tile @ keys[..., columns, :].mT
            if causal:
                scores = scores.masked_fill(_hidden(rows, columns, offset, q.device), -math.inf)
            grown = torch.maximum(largest, scores.amax(-1, keepdim=True))
            # While a row has seen no key its max is −inf, and −inf − (−inf) is NaN: subtract 0 instead.
            subtracted = torch.where(grown == -math.inf, 0.0, grown)
            rescale = torch.exp(largest - subtracted)
            weights = torch.exp(scores - subtracted)
            total = total * rescale + weights.sum(-1, keepdim=True)
            acc = acc * rescale + weights @ values[..., columns, :]
            largest = grown
        out[..., rows, :] = acc / torch.where(total == 0, 1.0, total)
        lse[..., rows] = (largest + torch.log(total)).squeeze(-1)
    return out.reshape(q.shape), lse.reshape(q.shape[:-1])


def tiled_attention_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    query_tile: int = 64,
    key_tile: int = 64,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients by recomputing each tile of P from lse; returns dq, dk, dv in the shapes of q, k, v.

    out, lse: what `tiled_attention` returned; grad_out (..., H, T_q, D). In fp32 or fp64.

    Raises:
        ValueError: shapes do not fit together.

    Source: Dao 2023 (FlashAttention-2), algorithm 2.
    """
    check_shapes(q, k, v)
    wide = torch.promote_types(q.dtype, torch.float32)
    factor = softmax_scale(q, scale)
    groups, grads, outs = (_group_heads(each.to(wide), k) for each in (q, grad_out, out))
    keys, values = _beside_groups(k.to(wide), q), _beside_groups(v.to(wide), q)
    log_sums = lse.to(wide).reshape(groups.shape[:-1])
    delta = (outs * grads).sum(-1, keepdim=True)
    grad_q = torch.zeros_like(groups)
    grad_k, grad_v = torch.zeros_like(keys), torch.zeros_like(values)
    offset = k.shape[-2] - q.shape[-2]
    for rows in _tiles(q.shape[-2], query_tile):
        tile, grad, log_sum = groups[..., rows, :], grads[..., rows, :], log_sums[..., rows].unsqueeze(-1)
        # exp(scores − lse) of a row without keys must be 0, not exp(−inf + inf).
        subtracted = torch.where(log_sum == -math.inf, 0.0, log_sum)
        for columns in _key_tiles(rows, k.shape[-2], key_tile, offset, causal):
            key, value = keys[..., columns, :], values[..., columns, :]
            scores = tile @ key.mT * factor
            if causal:
                scores = scores.masked_fill(_hidden(rows, columns, offset, q.device), -math.inf)
            weights = torch.exp(scores - subtracted)
            grad_scores = weights * (grad @ value.mT - delta[..., rows, :]) * factor
            grad_q[..., rows, :] += grad_scores @ key
            grad_k[..., columns, :] += _sum_group(grad_scores.mT @ tile, q)
            grad_v[..., columns, :] += _sum_group(weights.mT @ grad, q)
    return grad_q.reshape(q.shape), grad_k.reshape(k.shape), grad_v.reshape(v.shape)


class TiledAttention(torch.autograd.Function):
    """`apply(q, k, v, causal)`: `tiled_attention` with the gradients of `tiled_attention_backward`."""

    @staticmethod
    def forward(ctx: FunctionCtx, q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
        """Output in q's dtype."""
        out, lse = tiled_attention(q, k, v, causal=causal)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal = causal  # type: ignore[attr-defined]  # a context holds what forward puts there
        return out.to(q.dtype)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients in the inputs' dtype; none for `causal`."""
        q, k, v, out, lse = ctx.saved_tensors  # type: ignore[attr-defined]
        causal = ctx.causal  # type: ignore[attr-defined]
        found = tiled_attention_backward(q, k, v, out, lse, grads[0], causal=causal)
        return *(grad.to(each.dtype) for grad, each in zip(found, (q, k, v), strict=True)), None


def _tiles(length: int, tile: int) -> Iterator[slice]:
    return (slice(start, min(start + tile, length)) for start in range(0, length, tile))


def _key_tiles(rows: slice, keys: int, tile: int, offset: int, causal: bool) -> Iterator[slice]:
    """Tiles of keys that some query of `rows` sees: under a causal mask those up to the last query's."""
    return _tiles(min(keys, max(rows.stop + offset, 0)) if causal else keys, tile)


def _hidden(rows: slice, columns: slice, offset: int, device: torch.device) -> Tensor:
    """Boolean (rows, columns): the keys that lie in a query's future."""
    query = torch.arange(rows.start, rows.stop, device=device).unsqueeze(1)
    return torch.arange(columns.start, columns.stop, device=device) > query + offset


def _group_heads(x: Tensor, k: Tensor) -> Tensor:
    """(..., H, T, D) as (..., H_kv, H / H_kv, T, D): the query heads beside the K/V head that they share."""
    if x.ndim < 3:
        return x
    return x.reshape(*x.shape[:-3], k.shape[-3], -1, *x.shape[-2:])


def _beside_groups(shared: Tensor, q: Tensor) -> Tensor:
    """K or V with a dimension of 1 for the group, so that it broadcasts against `_group_heads`."""
    return shared if q.ndim < 3 else shared.unsqueeze(-3)


def _sum_group(gradient: Tensor, q: Tensor) -> Tensor:
    """What the query heads of a group contribute to the K/V head that they share."""
    return gradient if q.ndim < 3 else gradient.sum(-3, keepdim=True)
