"""Kernels and calls that the tests of the memory watch share."""

import ctypes

import torch
import triton
import triton.language as tl

from grader.kernels.recorder import call_recorded, changed

SIZE = 40


@triton.jit
def double_kernel(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < size) * 2, mask=at < size)


@triton.jit
def rows_kernel(x_ptr, out_ptr, row, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * stride + at, tl.load(x_ptr + at))


@triton.jit
def adding_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + at)))


@triton.jit
def once_kernel(flag_ptr):
    tl.atomic_cas(flag_ptr, 0, 1)


@triton.jit
def pointing_kernel(table_ptr, BLOCK: tl.constexpr):
    target = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(target + tl.arange(0, BLOCK), tl.full((BLOCK,), 3.0, tl.float32))


def tuned(**options):
    """double_kernel as an autotuner with three configurations runs it."""
    configs = [triton.Config({"BLOCK": block}) for block in (16, 32, 64)]
    return triton.autotune(configs, key=["size"], **options)(double_kernel)


def double(x, out=None):
    """2x by the kernel."""
    out = torch.empty_like(x) if out is None else out
    double_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), BLOCK=16)
    return out


def poke(tensor, value=7.0):
    """Write the tensor's first element by its address."""
    ctypes.c_float.from_address(tensor.data_ptr()).value = value


def found(function, *more, **options):
    """Findings of one call on 40 fp32 elements."""
    done = call_recorded(function, [torch.arange(float(SIZE)), *more], {}, **options)
    assert done.error is None, done.error
    assert not changed()
    return done.evidence.findings


# what is found
