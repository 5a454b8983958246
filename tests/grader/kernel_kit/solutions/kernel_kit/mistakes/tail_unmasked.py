"""Reads and writes beyond the end."""

import torch
import triton
import triton.language as tl

EXERCISE = "add_ragged"
HINT = "The last block is longer than what is left: mask it."
FAILS = ("test_adds_any_length", "test_adds_hidden_length")
SYMPTOMS = ("kernel.out_of_bounds_load",)


@triton.jit
def unmasked_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at))


def add(x, y):
    out = torch.empty_like(x)
    unmasked_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, BLOCK=64)
    return out
