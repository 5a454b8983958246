"""Attention as the formula says it, whole score matrix and all: the oracle, and what half precision costs at least.

Shapes: q is (..., H, T_q, D); k and v are (..., H_kv, T_k, D) with H a multiple of H_kv, or all three
(T, D) without heads. Leading dimensions are free and equal. Causal masks are aligned bottom-right: query i
sees the keys j ≤ i + T_k − T_q. A query that sees no key gets output 0, lse −inf and gradients 0.
`lse` is the natural log of the softmax's denominator, scale included: log Σⱼ exp(scale · qᵢ·kⱼ).
"""

import math

import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)


def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Softmax(scale · QKᵀ)V and its lse, in the inputs' dtype or fp32, whichever is wider.

    Shapes: see the module. Returns out (..., H, T_q, D) and lse (..., H, T_q), both in the dtype computed in:
    fp64 for fp64 inputs, fp32 for all others. `scale` is 1/√D where None.

    Raises:
        ValueError: shapes do not fit together.

    Source: Vaswani et al. 2017, section 3.2.1.
    """
    check_shapes(q, k, v)
    wide = _compute_dtype(q)
    scores, lse = _scores(q.to(wide), k.to(wide), causal, scale)
    return _weights(scores, lse) @ _repeat_heads(v.to(wide), q), lse


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, grad_out: Tensor, *, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `attention`'s output with respect to q, k and v, written out rather than left to autograd.

    grad_out has q's shape. Returns dq, dk, dv in the shapes of q, k, v and the dtype that `attention` computes
    in. Where heads share K and V, their gradients are summed.

    Raises:
        ValueError: shapes do not fit together.

    Source: Dao et al. 2022 (FlashAttention), appendix B.2.
    """
    check_shapes(q, k, v)
    wide = _compute_dtype(q)
    q_wide, grad_wide = q.to(wide), grad_out.to(wide)
    scores, lse = _scores(q_wide, k.to(wide), causal, scale)
    weights = _weights(scores, lse)
    grad_weights = grad_wide @ _repeat_heads(v.to(wide), q).mT
    delta = (weights * grad_weights).sum(-1, keepdim=True)
    grad_scores = weights * (grad_weights - delta) * softmax_scale(q, scale)
    grad_q = grad_scores @ _repeat_heads(k.to(wide), q)
    return grad_q, _sum_heads(grad_scores.mT @ q_wide, k), _sum_heads(weights.mT @ grad_wide, v)


def low_precision_attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, scale: float | None = None, tf32: bool = False
) -> tuple[Tensor, Tensor]:
    """Attention with the roundings that an honest kernel cannot avoid: tolerances are multiples of its error.

    The inputs are taken as they are (fp16, bf16, fp32); scores, softmax and sums are fp32; exp(S − max) is
    rounded to the inputs' dtype before it meets V, as tensor cores demand, and divided by the unrounded sum
    after it, as FlashAttention does. With `tf32`, operands in fp32 are cut to TF32, as a default tl.dot on tensor cores
    does. Returns out in the inputs' dtype and lse in fp32; shapes as `attention`.

    Raises:
        ValueError: shapes do not fit together, or the inputs are wider than fp32.

    Source: Dao 2023 (FlashAttention-2), section 3.1.1, with the usual mixed precision.
    """
    check_shapes(q, k, v)
    _refuse_fp64(q)
    multiplied = cut_to_tf32 if tf32 and q.dtype == torch.float32 else torch.Tensor.float
    scores, lse = _scores(multiplied(q), multiplied(k), causal, scale)
    largest = _finite_or_zero(scores.amax(-1, keepdim=True))
    exponentials = torch.exp(scores - largest)
    total = exponentials.sum(-1, keepdim=True)
    summed = multiplied(exponentials.to(q.dtype)) @ _repeat_heads(multiplied(v), q)
    return (summed / torch.where(total == 0, 1.0, total)).to(q.dtype), lse


def low_precision_attention_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    grad_out: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    tf32: bool = False,
    saved: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients with the roundings that an honest kernel cannot avoid; tolerances are multiples of its error.

    As `low_precision_attention`: P and dS are rounded to the inputs' dtype before each product, delta comes
    from the rounded output, sums are fp32; `tf32` as in `low_precision_attention`. `saved` is the out and lse that
    the backward pass is given, its own forward pass's where None: scores in TF32 meet an lse that is not, and P no
    longer sums to 1. Returns dq, dk, dv in the dtype of q; shapes as `attention_backward`.

    Raises:
        ValueError: shapes do not fit together, or the inputs are wider than fp32.

    Source: Dao 2023 (FlashAttention-2), algorithm 2.
    """
    if saved is None:
        saved = low_precision_attention(q, k, v, causal=causal, scale=scale, tf32=tf32)
    out, lse = saved
    multiplied = cut_to_tf32 if tf32 and q.dtype == torch.float32 else torch.Tensor.float
    q_wide, k_wide, v_wide, grad_wide = (multiplied(each) for each in (q, k, v, grad_out))
    scores, _ = _scores(q_wide, k_wide, causal, scale)
    weights = _weights(scores, lse)
    delta = (out.float() * grad_out.float()).sum(-1, keepdim=True)
    grad_scores = weights * (grad_wide @ _repeat_heads(v_wide, q).mT - delta)
    rounded = multiplied(grad_scores.to(q.dtype))
    factor = softmax_scale(q, scale)
    grad_q = rounded @ _repeat_heads(k_wide, q) * factor
    grad_k = _sum_heads(rounded.mT @ q_wide, k) * factor
    grad_v = _sum_heads(multiplied(weights.to(q.dtype)).mT @ grad_wide, v)
    return grad_q.to(q.dtype), grad_k.to(q.dtype), grad_v.to(q.dtype)


def cut_to_tf32(x: Tensor) -> Tensor:
    """fp32 with the 10 bits of fraction that tensor cores read of it; Triton emits no rounding before."""
    return (x.float().contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)


def softmax_scale(q: Tensor, scale: float | None) -> float:
    """The factor on QKᵀ: `scale`, or 1/√D."""
    return 1 / math.sqrt(q.shape[-1]) if scale is None else scale


def check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Refuse shapes that are not those of the module.

    Raises:
        ValueError: the message names the two shapes that differ and the dimension.
    """
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    if q.ndim < 2 or k.ndim != q.ndim:
        raise ValueError(f"{shapes}: give all three the same number of dimensions, (..., T, D)")
    if k.shape != v.shape:
        raise ValueError(f"{shapes}: k and v must have one shape")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"{shapes}: the last dimension, D, must be the same")
    if q.ndim >= 3 and (k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]):
        raise ValueError(f"{shapes}: k's heads (third dimension from the end) must divide q's")
    if q.shape[:-3] != k.shape[:-3]:
        raise ValueError(f"{shapes}: the dimensions before the heads must be the same")


def visible(queries: int, keys: int, device: torch.device | str = "cpu") -> Tensor:
    """Boolean (queries, keys): which key each query sees under a causal mask aligned bottom-right."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def _compute_dtype(q: Tensor) -> torch.dtype:
    return torch.promote_types(q.dtype, torch.float32)


def _refuse_fp64(q: Tensor) -> None:
    if q.dtype not in (*HALVES, torch.float32):
        raise ValueError(f"{q.dtype} is not a low precision: give fp16, bf16 or fp32")


def _scores(q: Tensor, k: Tensor, causal: bool, scale: float | None) -> tuple[Tensor, Tensor]:
    """Scaled scores, −inf where masked, and their lse, in the dtype of q."""
    scores = q @ _repeat_heads(k, q).mT * softmax_scale(q, scale)
    if causal:
        scores = scores.masked_fill(~visible(q.shape[-2], k.shape[-2], q.device), -math.inf)
    return scores, torch.logsumexp(scores, -1)


def _weights(scores: Tensor, lse: Tensor) -> Tensor:
    """Softmax of the scores; zeros in a row without keys, where −inf − (−inf) would be NaN."""
    return torch.exp(scores - _finite_or_zero(lse).unsqueeze(-1))


def _finite_or_zero(statistic: Tensor) -> Tensor:
    """A row's max or lse, with 0 in place of −inf: exp(−inf − 0) is the 0 that a row without keys needs."""
    return torch.where(statistic == -math.inf, 0.0, statistic)


def _repeat_heads(shared: Tensor, q: Tensor) -> Tensor:
    """K or V with each head repeated for the group of query heads that shares it."""
    if q.ndim < 3 or shared.shape[-3] == q.shape[-3]:
        return shared
    return shared.repeat_interleave(q.shape[-3] // shared.shape[-3], dim=-3)


def _sum_heads(gradient: Tensor, shared: Tensor) -> Tensor:
    """The sum of the gradients of a group of query heads: the gradient of what they share."""
    if gradient.shape == shared.shape:
        return gradient
    *leading, heads, keys, width = shared.shape
    return gradient.reshape(*leading, heads, -1, keys, width).sum(-3)
