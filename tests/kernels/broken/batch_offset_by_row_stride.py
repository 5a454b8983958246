"""The batch's output starts at batch times the row stride: batches overwrite each other."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def copy_kernel(x_ptr, out_ptr, T, D, BT: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    t = tl.arange(0, BT)
    d = tl.arange(0, BD)
    mask = (t[:, None] < T) & (d[None, :] < D)
    offsets = t[:, None] * D + d[None, :]
    x = tl.load(x_ptr + b * T * D + offsets, mask=mask)
    tl.store(out_ptr + b * D + offsets, x, mask=mask)  # fault


def copy(x: Tensor) -> Tensor:
    B, T, D = x.shape
    out = torch.empty_like(x)
    copy_kernel[(B,)](x, out, T, D, BT=triton.next_power_of_2(T), BD=triton.next_power_of_2(D))
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(3, 10, 20, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="batch_offset_by_row_stride",
    function=copy,
    make_inputs=inputs,
    kind="race",
    message=r"program \(1, 0, 0\).*\bout\b.*program \(0, 0, 0\)",
    also=("unwritten_output",),
)
