"""PyTorch computes the norm, and a kernel copies it."""

import torch
from torch import Tensor

from ._norms import copied

EXERCISE = "rms_norm_triton"
HINT = (
    "A kernel runs, but what it writes was computed by PyTorch before. Square, sum and divide in the "
    "kernel, from x itself."
)
FAILS = ("test_the_kernel_computes_the_norm",)
SYMPTOMS = ("norm_beside_the_kernel", "kernel.library")
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    wide = x.float()
    out = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * weight.float()
    return copied(out.to(x.dtype))
