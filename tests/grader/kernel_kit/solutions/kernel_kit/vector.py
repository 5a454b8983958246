# %% [markdown]
# # Two small kernels

# %%
"""Adds vectors and doubles them, with Triton."""

import torch
import triton
import triton.language as tl


# %% nbgrader={"grade": false, "grade_id": "kernel_kit.add", "locked": false, "schema_version": 3, "solution": true, "task": false}
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    ### BEGIN SOLUTION
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, x + y, mask=inside)
    ### END SOLUTION


# %%
def add(x, y):
    """The sum of two vectors."""
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[(triton.cdiv(n, 64),)](x, y, out, n, BLOCK=64)
    return out


# %% nbgrader={"grade": false, "grade_id": "kernel_kit.double", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Double(torch.autograd.Function):
    """Twice a vector."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        return add(x, x)
        ### END SOLUTION

    @staticmethod
    def backward(ctx, grad_output):
        ### BEGIN SOLUTION
        return add(grad_output, grad_output)
        ### END SOLUTION
