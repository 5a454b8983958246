"""PyTorch computes the norm."""

import torch
from torch import Tensor

EXERCISE = "rms_norm_triton"
HINT = (
    "PyTorch does the work here, and no kernel runs. The exercise is the body of the kernel: load a "
    "row, square, sum, divide, store."
)
FAILS = ("test_the_kernel_computes_the_norm",)
SYMPTOMS = ("library_norm", "kernel.none_launched")
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * weight.float()).to(x.dtype)
