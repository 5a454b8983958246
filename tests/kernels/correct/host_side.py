"""What host code does around launches: autograd, views of one output, padding cut off, None, one tensor given twice."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def affine_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    keep_ptr,
    y_ptr,
    N,
    y_row,
    HAS_BIAS: tl.constexpr,
    HAS_MASK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    tl.static_assert(BLOCK >= 16)
    row = tl.program_id(0)
    columns = tl.max_contiguous(tl.multiple_of(tl.arange(0, BLOCK), BLOCK), BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * N + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    y = x * tl.load(w_ptr + columns, mask=mask, other=0.0, cache_modifier=".ca").to(tl.float32)
    if HAS_BIAS:
        y += tl.load(b_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    if HAS_MASK:
        y = tl.where(tl.load(keep_ptr + row * N + columns, mask=mask, other=0) != 0, y, 0.0)
    tl.store(y_ptr + row * y_row + columns, y.to(y_ptr.dtype.element_ty), mask=mask)


def affine(x: Tensor, w: Tensor, b: Tensor | None = None, keep: Tensor | None = None) -> Tensor:
    """x * w + b where `keep`; rows of the result are cut from padded ones."""
    rows, N = x.shape
    padded = torch.empty((rows, triton.next_power_of_2(N)), dtype=x.dtype, device=x.device)
    affine_kernel[(rows,)](
        x, w, b, keep, padded, N, padded.stride(0), HAS_BIAS=b is not None, HAS_MASK=keep is not None,
        BLOCK=padded.shape[1], num_warps=2,
    )  # fmt: skip
    return padded[:, :N]


@triton.jit
def square_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=offsets < n).to(tl.float32)
    tl.store(out_ptr + offsets, x * y, mask=offsets < n)


def product(x: Tensor, y: Tensor) -> Tensor:
    out = torch.empty_like(x)
    square_kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
    return out


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return product(x, x)

    @staticmethod
    def backward(ctx, dy: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 2 * product(x, dy.contiguous())


def square_and_gradient(x: Tensor, dy: Tensor) -> tuple[Tensor, Tensor]:
    leaf = x.detach().requires_grad_()
    y = Square.apply(leaf)
    (dx,) = torch.autograd.grad(y, leaf, dy)
    return y, dx


@triton.jit
def scale_kernel(x_ptr, out_ptr, T, D, out_t, factor, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, BD)
    mask = (t[:, None] < T) & (d[None, :] < D)
    x = tl.load(x_ptr + t[:, None] * D + d[None, :], mask=mask).to(tl.float32)
    tl.store(out_ptr + t[:, None] * out_t + d[None, :], x * factor, mask=mask)


def interleaved_output(x: Tensor) -> Tensor:
    """x (T, D) times 1, 2 and 3, side by side: three launches fill three views of one tensor (T, 3, D)."""
    T, D = x.shape
    out = torch.empty((T, 3, D), dtype=x.dtype, device=x.device)
    for factor, view in enumerate(out.unbind(1), 1):
        scale_kernel[(triton.cdiv(T, 16),)](x, view, T, D, view.stride(0), factor, BT=16, BD=32)
    return out


def plain(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(9, 50, dtype=dtype, seed=seed), randn(50, dtype=dtype, seed=seed + 1)), {}


def with_all(dtype: torch.dtype, seed: int) -> Inputs:
    args, _ = plain(dtype, seed)
    keep = randn(9, 50, dtype=torch.float32, seed=seed + 2) > -0.5
    return args, {"b": randn(50, dtype=dtype, seed=seed + 3), "keep": keep}


def twice(dtype: torch.dtype, seed: int) -> Inputs:
    x = randn(300, dtype=dtype, seed=seed)
    return (x, x), {}


def none_at_all(dtype: torch.dtype, seed: int) -> Inputs:
    return (torch.empty(0, dtype=dtype), torch.empty(0, dtype=dtype)), {}


def with_gradient(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(300, dtype=dtype, seed=seed), randn(1, dtype=dtype, seed=seed + 1).expand(300)), {}


def narrow_rows(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(21, 24, dtype=dtype, seed=seed),), {}


def affine_reference(m, x: Tensor, w: Tensor, b: Tensor | None = None, keep: Tensor | None = None) -> Tensor:
    y = m.up(x) * m.up(w)
    y = y if b is None else y + m.up(b)
    return m.narrow(y if keep is None else torch.where(keep, y, 0.0))


def gradient_reference(m, x: Tensor, dy: Tensor) -> tuple[Tensor, Tensor]:
    return m.narrow(m.up(x) ** 2), 2 * m.narrow(m.up(x) * m.up(dy))


CASES = [
    Case("affine_without_bias", affine, plain, affine_reference),
    Case("affine_with_bias_and_bool_mask", affine, with_all, affine_reference),
    Case("product_of_one_tensor_given_twice", product, twice, lambda m, x, y: m.narrow(m.up(x) * m.up(y))),
    Case("product_of_empty_tensors", product, none_at_all, lambda m, x, y: m.narrow(m.up(x) * m.up(y))),
    Case("square_through_autograd", square_and_gradient, with_gradient, gradient_reference),
    Case(
        "three_views_of_one_output",
        interleaved_output,
        narrow_rows,
        lambda m, x: m.narrow(torch.stack([m.up(x), 2 * m.up(x), 3 * m.up(x)], 1)),
    ),
]
