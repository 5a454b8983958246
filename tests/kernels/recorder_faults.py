"""Functions with one fault each, for the sanitizer's tests; run by the child of `recorder_kernels`."""

import contextlib
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.recorder_kernels import copy, copy_kernel


@triton.jit
def load_tile(base_ptr, rows, columns, stride):
    return tl.load(base_ptr + rows[:, None] * stride + columns[None, :])  # in a helper


@triton.jit
def rows_kernel(x_ptr, out_ptr, stride, T, D: tl.constexpr, BLOCK: tl.constexpr):
    rows, columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    x = load_tile(x_ptr, rows, columns, stride)
    tl.store(out_ptr + rows[:, None] * D + columns[None, :], x, mask=rows[:, None] < T)


def copy_rows(x: Tensor, stride: int = 0) -> Tensor:
    """x (T, D) of any row stride; `stride` in place of its own."""
    T, D = x.shape
    out = torch.empty((T, D))
    rows_kernel[(triton.cdiv(T, 16),)](x, out, stride or x.stride(0), T, D=D, BLOCK=16)
    return out


def copy_first_of_packed(packed: Tensor) -> Tensor:
    """packed (2, T, D): past the end of q lies k, in the same memory."""
    q = packed[0]
    return copy_rows(q)


def copy_strided(packed: Tensor) -> Tensor:
    """packed (T, 2, D): between the rows of q lie those of k."""
    q = packed[:, 0]
    return copy_rows(q, q.shape[1])


@triton.jit
def offset_kernel(x_ptr, out_ptr, offset):
    tl.store(out_ptr, tl.load(x_ptr + offset))


def load_at(x: Tensor, offset: int) -> Tensor:
    out = torch.empty(1)
    offset_kernel[(1,)](x, out, offset)
    return out


def load_none(x: Tensor) -> Tensor:
    out = torch.empty(1)

    @triton.jit
    def null_kernel(pointers_ptr, out_ptr):
        pointer = tl.load(pointers_ptr).to(tl.pointer_type(tl.float32))
        tl.store(out_ptr, tl.load(pointer + 3))

    null_kernel[(1,)](torch.zeros(1, dtype=torch.int64), out)
    return out


@triton.jit
def race_kernel(x_ptr, out_ptr, HOW: tl.constexpr):
    pid = tl.program_id(0)
    if HOW == "different":
        tl.store(out_ptr, pid.to(tl.float32))
    elif HOW == "same":
        tl.store(out_ptr, 7.0)
    elif HOW == "read":
        tl.store(out_ptr + pid + 1, tl.load(out_ptr + pid) + 1.0)
    elif HOW == "overwrite":
        tl.store(out_ptr + pid, tl.load(out_ptr + pid + 1) + 1.0)
    elif HOW == "lanes":
        tl.store(out_ptr + tl.arange(0, 8) // 2, tl.load(x_ptr + tl.arange(0, 8)))
    elif HOW == "lanes, same":
        tl.store(out_ptr + tl.arange(0, 8) // 2, tl.arange(0, 8) // 2)
    elif HOW == "own":
        tl.store(out_ptr + pid, 1.0)
        tl.store(out_ptr + pid, tl.load(out_ptr + pid) + 1.0)
    elif HOW == "atomic":
        if pid == 0:
            tl.store(out_ptr, 0.0)
        tl.atomic_add(out_ptr, 1.0)
    elif HOW == "counter":
        tl.store(out_ptr + 1 + pid, 1.0)
        if tl.atomic_add(out_ptr, 1.0) == 3.0:
            tl.store(out_ptr + 6, tl.sum(tl.load(out_ptr + 1 + tl.arange(0, 4)), axis=0))
    elif HOW == "relaxed counter":
        tl.store(out_ptr + 1 + pid, 1.0)
        if tl.atomic_add(out_ptr, 1.0, sem="relaxed") == 3.0:
            tl.store(out_ptr + 6, tl.sum(tl.load(out_ptr + 1 + tl.arange(0, 4)), axis=0))
    elif HOW == "total":
        tl.atomic_add(out_ptr, 1.0, sem="relaxed")
        tl.store(out_ptr + 1 + pid, tl.load(out_ptr))
    elif HOW == "total after the ticket":
        if tl.atomic_add(out_ptr + 1, 1.0) >= 0.0:
            tl.atomic_add(out_ptr, 1.0)
        tl.store(out_ptr + 2 + pid, tl.load(out_ptr))
    elif HOW == "total by the last":
        tl.atomic_add(out_ptr, 1.0, sem="relaxed")
        if tl.atomic_add(out_ptr + 1, 1.0) == 3.0:
            tl.store(out_ptr + 2, tl.load(out_ptr))
    elif HOW == "total under a lock":
        while tl.atomic_cas(out_ptr, 0.0, 1.0) == 1.0:
            pass
        tl.atomic_add(out_ptr + 1, 1.0, sem="relaxed")
        tl.store(out_ptr + 2 + pid, tl.load(out_ptr + 1))
        tl.atomic_cas(out_ptr, 1.0, 0.0)
    elif HOW == "turns":
        while tl.load(out_ptr, volatile=True) < pid:
            pass
        tl.atomic_add(out_ptr, 1.0)
    elif HOW == "exchange loop":
        old = tl.load(out_ptr)
        seen = tl.atomic_cas(out_ptr, old, old + 1.0)
        while seen != old:
            old = seen
            seen = tl.atomic_cas(out_ptr, old, old + 1.0)


def race(how: str, programs: int = 2) -> Tensor:
    x, out = torch.arange(8.0), torch.zeros(8)
    race_kernel[(programs,)](x, out, HOW=how)
    return out


def read_through_two_names(x: Tensor) -> Tensor:
    """Program i reads what program i − 1 wrote, through another parameter of the same memory."""
    state = torch.zeros(65)
    copy_kernel[(2,)](state[:64], state[1:], None, 64, BLOCK=32)
    return state


def sum_of_empty(x: Tensor) -> Tensor:
    workspace = torch.empty(40)
    workspace[:30] = 1
    return copy(workspace)


def half_written(x: Tensor) -> Tensor:
    dst = torch.empty((128, 64))
    copy_kernel[(2,)](x, dst, None, 96 * 64, BLOCK=4096)
    return dst[:128]


def unwritten_inside(x: Tensor) -> dict[str, Any]:
    dst = torch.empty(64)
    copy_kernel[(1,)](x, dst, None, 32, BLOCK=32)
    return {"all": dst, "written": dst[:32]}


def into_argument(x: Tensor, out: Tensor) -> Tensor:
    copy_kernel[(2,)](x, out, None, 64, BLOCK=32)
    return out


def rewrite_same_values(x: Tensor) -> Tensor:
    copy_kernel[(2,)](x, x, None, 64, BLOCK=32)
    return x


def swallow_fault(x: Tensor) -> Tensor:
    """Catches the refusal; the finding stays, and the next launch is judged afresh."""
    with contextlib.suppress(Exception):
        load_at(x, 1 << 40)
    return copy(x)


def twice_the_same_fault(x: Tensor) -> Tensor:
    for _ in range(3):
        out = race("different")
    return out


@triton.jit
def wrapping_block_kernel(x_ptr, out_ptr, M, N, CHECKED: tl.constexpr):
    src = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (0, 0), (8, 8), (1, 0))
    for _ in range(2):
        src = tl.advance(src, (0, 8))
    tl.store(out_ptr, tl.sum(tl.load(src, boundary_check=(0, 1) if CHECKED else (0,))))


def sum_of_block(x: Tensor, checked: bool) -> Tensor:
    """x (M, 16): columns 16 to 23 of a row are columns 0 to 7 of the next."""
    out = torch.empty(1)
    wrapping_block_kernel[(1,)](x, out, *x.shape, CHECKED=checked)
    return out


X = torch.arange(64.0)
CASES: dict[str, tuple[Any, ...]] = {
    "past the view": (copy_first_of_packed, (torch.zeros(2, 20, 8),)),
    "between the elements": (copy_strided, (torch.zeros(20, 2, 8),)),
    "last row": (copy_rows, (torch.zeros(20, 8),)),
    "before the start": (load_at, (X, -1)),
    "far away": (load_at, (X, 1 << 30)),
    "farther than the tag": (load_at, (X, 1 << 47)),
    "null": (load_none, (X,)),
    "unsanitized far away": (load_at, (X, 1 << 30), {"sanitize": False}),
    "unsanitized race": (race, ("different",), {"sanitize": False}),
    **{
        f"race {how}": (race, (how, programs))
        for how, programs in {
            "different": 2,
            "same": 2,
            "read": 2,
            "overwrite": 2,
            "lanes": 1,
            "lanes, same": 1,
            "own": 2,
            "atomic": 2,
            "counter": 4,
            "relaxed counter": 4,
            "total": 4,
            "total after the ticket": 4,
            "total by the last": 4,
            "total under a lock": 4,
            "turns": 4,
            "exchange loop": 4,
        }.items()
    },
    "block": (sum_of_block, (torch.zeros(16, 16), False)),
    "block, checked": (sum_of_block, (torch.zeros(16, 16), True)),
    "race through two names": (read_through_two_names, (X,)),
    "sum of empty": (sum_of_empty, (X,)),
    "half written": (half_written, (torch.ones(128, 64),)),
    "unwritten inside": (unwritten_inside, (X,)),
    "into argument": (into_argument, (X, torch.zeros(64))),
    "into argument, allowed": (into_argument, (X, torch.zeros(64)), {"may_modify": ("out",)}),
    "same values": (rewrite_same_values, (X.clone(),)),
    "swallowed": (swallow_fault, (X,)),
    "repeated": (twice_the_same_fault, (X,)),
}
