"""Adds the first vector to itself."""

import torch
import triton
import triton.language as tl

EXERCISE = "add"
ALSO = ("add_ragged",)
HINT = "Which of the two vectors does the second load read?"
FAILS = ("test_adds", "test_adds_hidden")


@triton.jit
def first_twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + x, mask=at < n)


def add(x, y):
    out = torch.empty_like(x)
    first_twice_kernel[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), BLOCK=32)
    return out
