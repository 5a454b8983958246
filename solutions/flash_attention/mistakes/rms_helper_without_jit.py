"""The kernel calls a helper that is not under `@triton.jit`."""

import torch
import triton
import triton.language as tl
from torch import Tensor

EXERCISE = "rms_norm_triton"
HINT = (
    "Your kernel calls a plain Python function. On a GPU nothing of Python runs: a helper of a kernel is a kernel's "
    "part, under @triton.jit itself."
)
FAILS = ("test_a_width_need_not_be_a_power_of_two",)
SYMPTOMS = ("kernel.not_triton",)
ALSO = ()


def _inverse_rms(squares, width, eps):
    return tl.rsqrt(tl.sum(squares, axis=0) / width + eps)


@triton.jit
def _kernel(x_ptr, weight_ptr, out_ptr, row_stride, width, eps, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    inside = columns < width
    x = tl.load(x_ptr + row * row_stride + columns, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    out = x * _inverse_rms(x * x, width, eps) * weight
    tl.store(out_ptr + row * width + columns, out.to(out_ptr.dtype.element_ty), mask=inside)


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    width = x.shape[-1]
    rows = x.reshape(-1, width)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    grid, block = (rows.shape[0],), triton.next_power_of_2(width)
    _kernel[grid](rows, weight, out, rows.stride(0), width, eps, BLOCK=block)
    return out
