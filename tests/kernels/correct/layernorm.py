"""Layer normalisation: forward with statistics; backward with partial sums, with atomics, and under a lock."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn

EPS = 1e-5


@triton.jit
def forward_kernel(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * N + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + columns, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + columns, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * N + columns, centred * rstd * w + b, mask=mask)


def forward(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    rows, N = x.shape
    y = torch.empty_like(x)
    mean = torch.empty(rows, dtype=torch.float32, device=x.device)
    rstd = torch.empty(rows, dtype=torch.float32, device=x.device)
    forward_kernel[(rows,)](x, w, b, y, mean, rstd, N, EPS, BLOCK=triton.next_power_of_2(N))
    return y, mean, rstd


@triton.jit
def row_gradient(x_ptr, w_ptr, dy_ptr, dx_ptr, row, N, eps, columns, mask):
    x = tl.load(x_ptr + row * N + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * N + columns, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    x_hat = centred * rstd
    wdy = w * dy
    c1 = tl.sum(x_hat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (x_hat * c1 + c2)) * rstd
    tl.store(dx_ptr + row * N + columns, dx.to(dx_ptr.dtype.element_ty), mask=mask)
    return dy * x_hat, dy


@triton.jit
def backward_partial_kernel(
    x_ptr, w_ptr, dy_ptr, dx_ptr, dw_part_ptr, db_part_ptr, M, N, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    pid = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(pid * ROWS, min(pid * ROWS + ROWS, M)):
        dw_row, db_row = row_gradient(x_ptr, w_ptr, dy_ptr, dx_ptr, row, N, eps, columns, mask)
        dw += dw_row
        db += db_row
    tl.store(dw_part_ptr + pid * N + columns, dw, mask=mask)
    tl.store(db_part_ptr + pid * N + columns, db, mask=mask)


@triton.jit
def column_sum_kernel(part_ptr, out_ptr, P, N, BP: tl.constexpr, BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BP, BN), dtype=tl.float32)
    for start in range(0, P, BP):
        rows = start + tl.arange(0, BP)
        mask = (rows[:, None] < P) & (columns[None, :] < N)
        acc += tl.load(part_ptr + rows[:, None] * N + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + columns, tl.sum(acc, axis=0).to(out_ptr.dtype.element_ty), mask=columns < N)


def backward_partial(x: Tensor, w: Tensor, dy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    M, N = x.shape
    programs = triton.cdiv(M, 8)
    dx, dw, db = torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)
    parts = torch.empty((2, programs, N), dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(N)
    backward_partial_kernel[(programs,)](x, w, dy, dx, parts[0], parts[1], M, N, EPS, ROWS=8, BLOCK=block)
    for part, out in ((parts[0], dw), (parts[1], db)):
        column_sum_kernel[(triton.cdiv(N, 64),)](part, out, programs, N, BP=4, BN=64)
    return dx, dw, db


@triton.jit
def backward_atomic_kernel(x_ptr, w_ptr, dy_ptr, dx_ptr, dw_ptr, db_ptr, N, eps, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    dw, db = row_gradient(x_ptr, w_ptr, dy_ptr, dx_ptr, tl.program_id(0), N, eps, columns, mask)
    tl.atomic_add(dw_ptr + columns, dw, mask=mask)
    tl.atomic_add(db_ptr + columns, db, mask=mask)


def backward_atomic(x: Tensor, w: Tensor, dy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    M, N = x.shape
    dx = torch.empty_like(x)
    dw = torch.zeros(N, dtype=torch.float32, device=x.device)
    db = torch.zeros(N, dtype=torch.float32, device=x.device)
    backward_atomic_kernel[(M,)](x, w, dy, dx, dw, db, N, EPS, BLOCK=triton.next_power_of_2(N))
    return dx, dw.to(w.dtype), db.to(w.dtype)


@triton.jit
def backward_lock_kernel(
    x_ptr, w_ptr, dy_ptr, dx_ptr, dw_ptr, db_ptr, lock_ptr, N, eps, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    dw, db = row_gradient(x_ptr, w_ptr, dy_ptr, dx_ptr, row, N, eps, columns, mask)
    group = row % GROUPS
    lock = lock_ptr + group
    count = lock_ptr + GROUPS + group
    dw_ptrs = dw_ptr + group * N + columns
    db_ptrs = db_ptr + group * N + columns
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        dw += tl.load(dw_ptrs, mask=mask)
        db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, dw, mask=mask)
    tl.store(db_ptrs, db, mask=mask)
    # Every thread's stores come before the lock is given back.
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def backward_lock(x: Tensor, w: Tensor, dy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    M, N = x.shape
    groups = 4
    dx, dw, db = torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)
    locks = torch.zeros(2 * groups, dtype=torch.int32, device=x.device)
    parts = torch.empty((2, groups, N), dtype=torch.float32, device=x.device)
    backward_lock_kernel[(M,)](
        x, w, dy, dx, parts[0], parts[1], locks, N, EPS, GROUPS=groups, BLOCK=triton.next_power_of_2(N)
    )
    for part, out in ((parts[0], dw), (parts[1], db)):
        column_sum_kernel[(triton.cdiv(N, 64),)](part, out, groups, N, BP=4, BN=64)
    return dx, dw, db


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    x = randn(35, 150, dtype=dtype, seed=seed) + 0.5
    return (x, randn(150, dtype=dtype, seed=seed + 1), randn(150, dtype=dtype, seed=seed + 2)), {}


def backward_inputs(dtype: torch.dtype, seed: int) -> Inputs:
    (x, w, _), _ = inputs(dtype, seed)
    return (x, w, randn(35, 150, dtype=dtype, seed=seed + 3)), {}


def statistics(m, x: Tensor) -> tuple[Tensor, Tensor]:
    wide = m.up(x)
    mean = m.sum(wide, -1) / x.shape[-1]
    centred = wide - mean[:, None]
    return mean, torch.rsqrt(m.sum(centred * centred, -1) / x.shape[-1] + EPS)


def reference(m, x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    mean, rstd = statistics(m, x)
    y = (m.up(x) - mean[:, None]) * rstd[:, None] * m.up(w) + m.up(b)
    return m.narrow(y), mean, rstd


def backward_reference(m, x: Tensor, w: Tensor, dy: Tensor) -> tuple[Tensor, ...]:
    mean, rstd = statistics(m, x)
    x_hat = (m.up(x) - mean[:, None]) * rstd[:, None]
    wide_dy = m.up(dy)
    wdy = m.up(w) * wide_dy
    c1 = m.sum(x_hat * wdy, -1)[:, None] / x.shape[-1]
    c2 = m.sum(wdy, -1)[:, None] / x.shape[-1]
    dx = (wdy - (x_hat * c1 + c2)) * rstd[:, None]
    return m.narrow(dx), m.narrow(m.sum(wide_dy * x_hat, 0)), m.narrow(m.sum(wide_dy, 0))


CASES = [
    Case("layernorm_forward", forward, inputs, reference),
    Case("layernorm_backward_partial_sums", backward_partial, backward_inputs, backward_reference),
    Case("layernorm_backward_atomics", backward_atomic, backward_inputs, backward_reference),
    Case("layernorm_backward_lock", backward_lock, backward_inputs, backward_reference),
]
