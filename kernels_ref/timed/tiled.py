"""FlashAttention in plain PyTorch as a baseline: runs where torch does, so that the clock is tested without a GPU."""

from torch import Tensor

from kernels_ref.tiled import tiled_attention, tiled_attention_backward


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """See `tiled_attention`; the output in q's dtype."""
    out, lse = tiled_attention(q, k, v, causal=causal, scale=scale)
    return out.to(q.dtype), lse


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
    """See `tiled_attention_backward`; gradients in q's dtype."""
    grad_q, grad_k, grad_v = tiled_attention_backward(q, k, v, out, lse, grad_out, causal=causal, scale=scale)
    return grad_q.to(q.dtype), grad_k.to(q.dtype), grad_v.to(q.dtype)
