# %% [markdown]
# # The first kernels: a vector add to read, then RMSNorm and softmax to write
#
# Section 6 of the handout. No GPU is needed: without one, the kernels run in Triton's interpreter.

# %%
"""Triton kernels over rows: RMSNorm where a row fits into one block, softmax where it need not."""

import torch
import triton
import triton.language as tl
from torch import Tensor

# %% [markdown]
# ## A worked example
#
# One *program* adds one block of elements. `tl.arange` gives it a vector of offsets, a pointer plus that vector is
# a vector of pointers, and the mask keeps the last program from touching what lies past the end.


# %%
@triton.jit
def _add_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # which elements are mine
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    y = tl.load(y_ptr + offsets, mask=inside, other=0.0)
    tl.store(out_ptr + offsets, x + y, mask=inside)


def add(x: Tensor, y: Tensor) -> Tensor:
    """`x + y` for two contiguous tensors of the same shape and dtype."""
    out = torch.empty_like(x)
    block = 1024  # a power of two, as every tl.arange
    grid = (triton.cdiv(x.numel(), block),)  # enough programs for all elements: round up
    _add_kernel[grid](x, y, out, x.numel(), BLOCK=block)
    return out


# %% [markdown]
# ## RMSNorm
#
# One program a row. The launch is written for you; the kernel's body is yours.


# %%
@triton.jit
def _rms_norm_kernel(x_ptr, weight_ptr, out_ptr, row_stride, width, eps, BLOCK: tl.constexpr):
    """One program normalises row `tl.program_id(0)` of `width` elements; BLOCK is the power of two above it."""
    raise NotImplementedError("write me")


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Root-mean-square norm over the last dimension: x / sqrt(mean(x²) + eps) · weight.

    Args:
        x: shape (..., N), fp32, fp16 or bf16; N up to 16384. Its rows may lie apart, each row is contiguous.
        weight: shape (N,), contiguous.
        eps: added to the mean square, not to the root.

    Returns:
        Shape and dtype of x, contiguous; computed in fp32.

    Source: Zhang and Sennrich 2019 (arXiv 1910.07467), equation 4.
    """
    width = x.shape[-1]
    rows = x.reshape(-1, width)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(width)
    _rms_norm_kernel[(rows.shape[0],)](rows, weight, out, rows.stride(0), width, eps, BLOCK=block)
    return out


# %% [markdown]
# ## Softmax over rows of any width
#
# A row that is longer than a block is read block by block, with the running maximum and the running sum of
# section 3. Kernel and launch are yours now.


# %%
def softmax_triton(x: Tensor) -> Tensor:
    """Softmax over the last dimension, for rows of any width, in a kernel of your own.

    A block has at most 4096 elements; a wider row is read block by block, and each element at most twice. No
    temporary is as large as x.

    Args:
        x: shape (..., N), fp32, fp16 or bf16, any strides. A row that is -inf throughout gives zeros, as masked
            attention needs it (torch.softmax gives NaN).

    Returns:
        Shape and dtype of x, contiguous; computed in fp32.

    Source: Milakov and Gimelshein 2018 (arXiv 1805.02867), algorithm 3.
    """
    raise NotImplementedError("write me")
