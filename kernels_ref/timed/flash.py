"""The reference kernel as a baseline: FlashAttention in Triton, tuned. Needs a GPU."""

from torch import Tensor

from kernels_ref.flash.backward import flash_attention_backward
from kernels_ref.flash.forward import flash_attention_forward


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """See `flash_attention_forward`."""
    return flash_attention_forward(q, k, v, causal=causal, scale=scale)


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
    """See `flash_attention_backward`."""
    return flash_attention_backward(q, k, v, out, lse, grad_out, causal=causal, scale=scale)
