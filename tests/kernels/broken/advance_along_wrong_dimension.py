"""The key block pointer is advanced along the head dimension."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def key_sum_kernel(k_ptr, out_ptr, T, D: tl.constexpr, BT: tl.constexpr):
    block = tl.make_block_ptr(k_ptr, (T, D), (D, 1), (0, 0), (BT, D), (1, 0))
    acc = tl.zeros((D,), dtype=tl.float32)
    for _ in range(tl.cdiv(T, BT)):
        k = tl.load(block, boundary_check=(0,), padding_option="zero")  # fault
        acc += tl.sum(k.to(tl.float32), axis=0)
        block = block.advance((0, BT))
    tl.store(out_ptr + tl.arange(0, D), acc)


def key_sum(k: Tensor) -> Tensor:
    T, D = k.shape
    out = torch.empty(D, dtype=torch.float32, device=k.device)
    key_sum_kernel[(1,)](k, out, T, D=D, BT=32)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(70, 32, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="advance_along_wrong_dimension",
    function=key_sum,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"column 32 of 32.*\bk\b.*(boundary_check|loop|offset)",
)
