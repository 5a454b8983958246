"""Attention as one writes it first, with the whole score matrix in memory: what earns nothing when it is timed.

Scores are in fp32: rounded to bf16 they would be too far off to pass a timed call. P is rounded for its products.
"""

import torch
from torch import Tensor

from kernels_ref.naive import softmax_scale, visible


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """out in q's dtype and lse in fp32, of (B, H, T, D) and K and V of as many heads or fewer."""
    scores = _scores(q, _for_each_head(k, q), causal, scale)
    lse = torch.logsumexp(scores, -1)
    p = (scores - lse[..., None]).exp().to(q.dtype)
    return p @ _for_each_head(v, q), lse


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
    """dq, dk and dv in the inputs' dtype, from P and dS as whole matrices."""
    keys, values = _for_each_head(k, q), _for_each_head(v, q)
    p = (_scores(q, keys, causal, scale) - lse[..., None]).exp()
    delta = (out.float() * grad_out.float()).sum(-1, keepdim=True)
    dp = grad_out.float() @ values.float().mT
    ds = (p * (dp - delta) * softmax_scale(q, scale)).to(q.dtype)
    p = p.to(q.dtype)
    return ds @ keys, _for_shared_heads(ds.mT @ q, k), _for_shared_heads(p.mT @ grad_out, v)


def _scores(q: Tensor, k: Tensor, causal: bool, scale: float | None) -> Tensor:
    scores = q.float() @ k.float().mT * softmax_scale(q, scale)
    if causal:
        scores = scores.masked_fill(~visible(q.shape[-2], k.shape[-2], q.device), float("-inf"))
    return scores


def _for_each_head(x: Tensor, q: Tensor) -> Tensor:
    return x.repeat_interleave(q.shape[1] // x.shape[1], 1)


def _for_shared_heads(grad: Tensor, x: Tensor) -> Tensor:
    batch, heads, tokens, width = x.shape
    return grad.view(batch, heads, -1, tokens, width).float().sum(2).to(grad.dtype)
