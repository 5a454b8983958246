"""Programs that wait for each other by atomics: tiles handed out by a counter, and a carry passed along by flags."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def dynamic_kernel(x_ptr, out_ptr, next_ptr, n, tiles, BLOCK: tl.constexpr):
    tile = tl.atomic_add(next_ptr, 1)
    while tile < tiles:
        offsets = tile * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
        tl.store(out_ptr + offsets, tl.sin(x).to(out_ptr.dtype.element_ty), mask=offsets < n)
        tile = tl.atomic_add(next_ptr, 1)


def dynamic_sin(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    counter = torch.zeros(1, dtype=torch.int32, device=x.device)
    dynamic_kernel[(3,)](x, out, counter, x.numel(), triton.cdiv(x.numel(), 64), BLOCK=64)
    return out


@triton.jit
def chained_kernel(x_ptr, out_ptr, carry_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    carry = 0.0
    if pid > 0:
        while tl.atomic_add(flag_ptr + pid - 1, 0) == 0:
            pass
        carry = tl.load(carry_ptr + pid - 1)
    tl.store(carry_ptr + pid, carry + tl.sum(x, axis=0))
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr + pid, 1)
    tl.store(out_ptr + offsets, (carry + tl.cumsum(x, axis=0)).to(out_ptr.dtype.element_ty), mask=offsets < n)


def chained_cumsum(x: Tensor) -> Tensor:
    programs = triton.cdiv(x.numel(), 128)
    out = torch.empty_like(x)
    carry = torch.empty(programs, dtype=torch.float32, device=x.device)
    flags = torch.zeros(programs, dtype=torch.int32, device=x.device)
    chained_kernel[(programs,)](x, out, carry, flags, x.numel(), BLOCK=128)
    return out


@triton.jit
def compact_kernel(x_ptr, out_ptr, count_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    keep = (x > 0).to(tl.int32)
    first = tl.atomic_add(count_ptr, tl.sum(keep, axis=0))
    slots = first + tl.cumsum(keep, axis=0) - 1
    tl.store(out_ptr + slots, x, mask=keep != 0)


def positives(x: Tensor) -> Tensor:
    """The positive elements, sorted (the programs come in any order)."""
    room = torch.empty_like(x)
    count = torch.zeros(1, dtype=torch.int32, device=x.device)
    compact_kernel[(triton.cdiv(x.numel(), 128),)](x, room, count, x.numel(), BLOCK=128)
    return room[: int(count)].sort().values


def vector(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(500, dtype=dtype, seed=seed) + 0.25,), {}


def cumsum_reference(m, x: Tensor) -> Tensor:
    total, out = m.up(torch.zeros(())), []
    for value in m.up(x):
        total = total + value
        if m.low_sums:
            total = m.narrow(total)
        out.append(total)
    return m.narrow(torch.stack(out))


CASES = [
    Case("tiles_by_atomic_counter", dynamic_sin, vector, lambda m, x: m.narrow(torch.sin(m.up(x)))),
    Case("cumsum_carry_passed_by_flags", chained_cumsum, vector, cumsum_reference),
    Case("compaction_by_atomic_slots", positives, vector, lambda m, x: m.up(x)[x > 0].sort().values),
]
