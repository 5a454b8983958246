"""Functions that kernels of another file call: one of triton's kind, and one that only the interpreter could run."""

import numpy as np
import triton
import triton.language as tl  # noqa: F401  # triton's interpreter asks for it in each module with jit functions


@triton.jit
def tripled(x):
    return x * 3


@triton.jit
def by_numpy(x):
    return np.flip(x)
