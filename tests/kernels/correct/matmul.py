"""Matrix multiplication by pointer arithmetic: plain with masks, and in grouped order with wrapped rows."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * am + rk[None, :] * ak
    b_ptrs = b_ptr + rk[:, None] * bk + rn[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < K - k), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < K - k) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision=PRECISION)
        a_ptrs += BK * ak
        b_ptrs += BK * bk
    c_ptrs = c_ptr + rm[:, None] * cm + rn[None, :] * cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(a: Tensor, b: Tensor, precision: str = "tf32") -> Tensor:
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
    matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BM=32, BN=64, BK=32, PRECISION=precision
    )
    return c


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def grouped_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    in_group = GROUP * tiles_n
    first_m = (pid // in_group) * GROUP
    group_rows = min(tiles_m - first_m, GROUP)
    pid_m = first_m + (pid % in_group) % group_rows
    pid_n = (pid % in_group) // group_rows
    # Rows and columns past the end wrap around: loads stay inside, the store's mask drops them.
    rm = (pid_m * BM + tl.arange(0, BM)) % M
    rn = (pid_n * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + (rm[:, None] * am + rk[None, :] * ak)
    b_ptrs = b_ptr + (rk[:, None] * bk + rn[None, :] * bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=rk[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * ak
        b_ptrs += BK * bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    cm_offsets = pid_m * BM + tl.arange(0, BM)
    cn_offsets = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + cm * cm_offsets[:, None] + cn * cn_offsets[None, :]
    mask = (cm_offsets[:, None] < M) & (cn_offsets[None, :] < N)
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


def grouped_matmul(a: Tensor, b: Tensor) -> Tensor:
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 32),)
    grouped_matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(),
        BM=16, BN=32, BK=32, GROUP=4, ACTIVATION="leaky_relu",
    )  # fmt: skip
    return c


def ragged(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(70, 110, dtype=dtype, seed=seed), randn(90, 110, dtype=dtype, seed=seed + 1).t()), {}


def ieee(dtype: torch.dtype, seed: int) -> Inputs:
    return ragged(dtype, seed)[0], {"precision": "ieee"}


def reference(m, a: Tensor, b: Tensor, precision: str = "tf32") -> Tensor:
    return m.narrow(m.dot(m.up(a), m.up(b), precision))


def leaky_reference(m, a: Tensor, b: Tensor) -> Tensor:
    c = m.dot(m.up(a), m.up(b))
    return m.narrow(torch.where(c >= 0, c, 0.01 * c))


CASES = [
    Case("matmul_pointers", matmul, ragged, reference),
    Case("matmul_pointers_ieee", matmul, ieee, reference),
    Case("matmul_grouped_order", grouped_matmul, ragged, leaky_reference),
]
