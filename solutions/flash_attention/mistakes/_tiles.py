"""Tiled attention with switches, each of which puts one usual mistake into it; for the mistakes beside this file."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def attend(
    q: "Tensor",
    k: "Tensor",
    v: "Tensor",
    block_q: int,
    block_k: int,
    causal: bool,
    scale: float | None,
    *,
    factor: "Callable[[float], float]" = lambda scale: scale,
    subtract: bool = True,
    rescale_sum: bool = True,
    rescale_accumulator: bool = True,
    keep_tail: bool = True,
    seen_ahead: "Callable[[int], int]" = lambda shift: shift,
    mask_late: bool = False,
    nan_where_unseen: bool = False,
    cast_before_sum: bool = False,
    lse_of: "Callable[[Tensor, Tensor], Tensor]" = lambda largest, total: largest + total.log(),
) -> "tuple[Tensor, Tensor]":
    """`tiled_attention` with the mistakes that are switched on.

    factor: makes the scale out of the right one. seen_ahead: makes T_k − T_q, up to which a query sees beyond its
    own position, out of the right one. lse_of: makes lse out of the maximum and the sum.
    """
    import torch

    scale = factor(1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    shift = seen_ahead(k.shape[-2] - q.shape[-2])
    keys = k.shape[-2] if keep_tail or k.shape[-2] < block_k else k.shape[-2] // block_k * block_k
    outs, lses = [], []
    for start in range(0, q.shape[-2], block_q):
        rows = q[..., start : start + block_q, :].float()
        largest = torch.full(rows.shape[:-1], -math.inf)
        total = torch.zeros(rows.shape[:-1])
        acc = torch.zeros_like(rows)
        for first in range(0, keys, block_k):
            end = min(first + block_k, keys)
            scores = scale * (rows @ k[..., first:end, :].float().mT)
            positions = torch.arange(start, start + rows.shape[-2])[:, None]
            hidden = torch.arange(first, end) > positions + shift
            if causal and not mask_late:
                scores = scores.masked_fill(hidden, -math.inf)
            grown = torch.maximum(largest, scores.amax(-1))
            safe = grown if nan_where_unseen else grown.masked_fill(grown == -math.inf, 0.0)
            p = torch.exp(scores - safe[..., None]) if subtract else torch.exp(scores)
            rescale = torch.exp(largest - safe) if subtract else torch.ones_like(total)
            if cast_before_sum:
                p = p.to(q.dtype).float()
            total = total * (rescale if rescale_sum else 1.0) + p.sum(-1)
            if causal and mask_late:
                p = p.masked_fill(hidden, 0.0)
            acc = acc * (rescale if rescale_accumulator else torch.ones_like(rescale))[..., None]
            acc = acc + p @ v[..., first:end, :].float()
            largest = grown
        whole = total if nan_where_unseen or not subtract else total.masked_fill(total == 0, 1.0)
        if not subtract:
            whole = total.masked_fill(largest == -math.inf, 1.0)
        outs.append((acc / whole[..., None]).to(q.dtype))
        lses.append(lse_of(largest if subtract else torch.zeros_like(largest), total))
    return torch.cat(outs, -2), torch.cat(lses, -1)


def go_back(
    q: "Tensor",
    k: "Tensor",
    v: "Tensor",
    out: "Tensor",
    lse: "Tensor",
    grad_out: "Tensor",
    block_q: int,
    block_k: int,
    causal: bool,
    scale: float | None,
    *,
    scores_scaled: bool = True,
    dq_scaled: bool = True,
    dk_scaled: bool = True,
    use_delta: bool = True,
    dq_added: bool = True,
    nan_where_unseen: bool = False,
    sum_in_half: bool = False,
) -> "tuple[Tensor, Tensor, Tensor]":
    """`tiled_backward` with the mistakes that are switched on."""
    import torch

    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    shift = k.shape[-2] - q.shape[-2]
    wide_q, wide_k, wide_v, wide_grad = q.float(), k.float(), v.float(), grad_out.float()
    delta = (wide_grad * out.float()).sum(-1)
    lse = lse if nan_where_unseen else lse.masked_fill(lse == -math.inf, 0.0)
    summed = q.dtype if sum_in_half else torch.float32
    dq, dk, dv = (torch.zeros_like(each, dtype=summed) for each in (q, k, v))
    for first in range(0, k.shape[-2], block_k):
        keys = slice(first, min(first + block_k, k.shape[-2]))
        for start in range(0, q.shape[-2], block_q):
            rows = slice(start, min(start + block_q, q.shape[-2]))
            scores = (scale if scores_scaled else 1.0) * (wide_q[..., rows, :] @ wide_k[..., keys, :].mT)
            if causal:
                ahead = torch.arange(first, keys.stop) - torch.arange(start, rows.stop)[:, None]
                scores = scores.masked_fill(ahead > shift, -math.inf)
            p = torch.exp(scores - lse[..., rows, None])
            ds = wide_grad[..., rows, :] @ wide_v[..., keys, :].mT
            ds = p * (ds - delta[..., rows, None] if use_delta else ds)
            dv[..., keys, :] += p.mT @ wide_grad[..., rows, :]
            part = (scale if dq_scaled else 1.0) * (ds @ wide_k[..., keys, :])
            dq[..., rows, :] = part + (dq[..., rows, :] if dq_added else 0.0)
            dk[..., keys, :] += (scale if dk_scaled else 1.0) * (ds.mT @ wide_q[..., rows, :])
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)
