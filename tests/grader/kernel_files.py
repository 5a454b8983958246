"""Small files of kernels, as somebody outside the course would have them, for the tests of `grader kernel`."""

from pathlib import Path

HEAD = """\
import os
import sys

import torch
import triton
import triton.language as tl

"""

ADD = (
    HEAD
    + """\
from sizes import BLOCK

DEVICE = triton.runtime.driver.active.get_active_torch_device()
SMS = torch.cuda.get_device_properties(DEVICE).multi_processor_count


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + tl.load(y_ptr + i, mask=i < n), mask=i < n)


def add(x, y, *, bias=None):
    print("printed by the function")
    assert x.device == DEVICE and SMS > 1
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, y, out, x.numel(), BLOCK=BLOCK)
    return out


def debugged(x):
    breakpoint()
    print("typed:", sys.stdin.readline().strip())
    return add(x, x)


def endless(x):
    with open(os.environ["MARKER"], "w") as file:
        print(os.getpid(), file=file)
    while True:
        pass
"""
)

# Not masked, which only sizes show that no block divides.
UNMASKED = (
    HEAD
    + """\
@triton.jit
def double_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i))


def double(x):
    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 256),)](x, out, BLOCK=256)
    return out
"""
)

# Runs interpreted, where a kernel may read any global.
UNCOMPILED = (
    HEAD
    + """\
FACTOR = 2


@triton.jit
def copy_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, FACTOR * tl.load(x_ptr + i))


def copy(x):
    out = torch.empty_like(x)
    copy_kernel[(1,)](x, out, N=x.numel())
    return out
"""
)

CUDA_ONLY = """\
import torch

assert torch.cuda.is_available()


def anything(x):
    return x
"""


def write(folder: Path) -> None:
    """Put the files into a folder: add.py with the sizes.py it imports, unmasked.py, uncompiled.py, cuda_only.py."""
    (folder / "sizes.py").write_text("BLOCK = 256\n")
    for name, text in {
        "add": ADD,
        "unmasked": UNMASKED,
        "uncompiled": UNCOMPILED,
        "cuda_only": CUDA_ONLY,
    }.items():
        (folder / f"{name}.py").write_text(text)
