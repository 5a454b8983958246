"""PyTorch computes the gradients."""

import torch
from torch import Tensor

EXERCISE = "flash_backward"
HINT = "PyTorch does the work here, and no kernel of yours runs: write dQ, dK and dV as Triton kernels."
FAILS = ("test_kernels_do_the_backward_pass",)
SYMPTOMS = ("library_backward", "kernel.none_launched")
ALSO = ("performance",)


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
    """Wrong: see the module."""
    import math

    shared = k
    if k.dim() > 2 and k.shape[-3] != q.shape[-3]:
        group = q.shape[-3] // k.shape[-3]
        k, v = (x.repeat_interleave(group, dim=-3) for x in (k, v))
    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = factor * (q.float() @ k.float().mT)
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(k.shape[-2] - q.shape[-2] + 1)
        scores = scores.masked_fill(hidden, -math.inf)
    p = torch.exp(scores - torch.where(lse == -math.inf, 0.0, lse)[..., None])
    grad = grad_out.float()
    ds = p * (grad @ v.float().mT - (out.float() * grad).sum(-1, keepdim=True))
    gradients = factor * (ds @ k.float()), factor * (ds.mT @ q.float()), p.mT @ grad
    dq, dk, dv = (x.to(q.dtype) for x in gradients)
    if dk.shape != shared.shape:
        dk, dv = (x.unflatten(-3, (shared.shape[-3], -1)).sum(-3) for x in (dk, dv))
    return dq, dk, dv
