"""Tiles of (B, H, T, D) tensors of any strides: loaded through a tensor descriptor (TMA) or through pointers.

A kernel takes a tensor as one argument, a descriptor or a pointer, beside the tuple of its four strides; the
constexpr DESCRIPTORS says which. Both ways give zeros beyond the tensor's rows and beyond its D columns, so
that ragged lengths and head widths that are no power of two need nothing else.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# A kernel's parameters have no Python types; triton would take annotations for dtypes.

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

# TMA wants addresses and strides in multiples of 16 bytes (CUDA driver API, cuTensorMapEncodeTiled).
TMA_ALIGNMENT_BYTES = 16


@triton.jit
def load_tile(
    source,
    strides,
    batch,
    head,
    start,
    length,
    D: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
    WHOLE: tl.constexpr = False,
):
    """Rows start … start + ROWS of one head as (ROWS, WIDTH), zero beyond `length` rows and D columns.

    WHOLE promises that no row lies beyond `length`: through pointers the load then needs no mask for rows.
    """
    if DESCRIPTORS:
        return source.load([batch, head, start, 0]).reshape(ROWS, WIDTH)
    else:
        # 64 bits for what can pass 2³¹ elements: everything but the distance within a tile.
        origin = source + batch.to(tl.int64) * strides[0] + head.to(tl.int64) * strides[1]
        origin += tl.cast(start, tl.int64) * strides[2]
        row = tl.arange(0, ROWS)[:, None]
        column = tl.arange(0, WIDTH)[None, :]
        pointers = origin + row * strides[2] + column * strides[3]
        if WHOLE and D == WIDTH:
            return tl.load(pointers)
        elif WHOLE:
            return tl.load(pointers, mask=column < D, other=0.0)
        else:
            return tl.load(pointers, mask=(start + row < length) & (column < D), other=0.0)


@triton.jit
def store_tile(
    target,
    strides,
    batch,
    head,
    start,
    length,
    tile,
    D: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Store (ROWS, WIDTH) as rows start … of one head, in the target's dtype; what lies beyond it is left out."""
    origin = target + batch.to(tl.int64) * strides[0] + head.to(tl.int64) * strides[1]
    origin += tl.cast(start, tl.int64) * strides[2]
    row = tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, WIDTH)[None, :]
    pointers = origin + row * strides[2] + column * strides[3]
    tl.store(pointers, tile.to(target.dtype.element_ty), mask=(start + row < length) & (column < D))


def four_dimensional(x: Tensor) -> Tensor:
    """(..., H, T, D) or (T, D) as (B, H, T, D); a copy only where no strides can express it."""
    if x.ndim == 2:
        return x[None, None]
    return x.reshape(-1, *x.shape[-3:])


def padded_width(width: int) -> int:
    """The power of two that a tile of `width` columns needs; 16 at least, the smallest that a dot takes."""
    return max(16, int(triton.next_power_of_2(width)))


def interpreted() -> bool:
    """Whether kernels run in Triton's interpreter (TRITON_INTERPRET=1 when triton was imported)."""
    return not isinstance(load_tile, triton.JITFunction)


def has_descriptors() -> bool:
    """Whether kernels are compiled for a GPU whose tensor descriptors are TMA: Hopper (9.0) or later.

    False under the interpreter, which takes the way of pointers unless told otherwise.
    """
    if interpreted():
        return False
    target = triton.runtime.driver.active.get_current_target()
    return bool(target.backend == "cuda" and target.arch >= 90)


def can_describe(x: Tensor) -> bool:
    """Whether TMA can address x (B, H, T, D): unit stride in D, 16-byte steps elsewhere, nothing empty."""
    steps = _descriptor_strides(x)
    return (
        x.numel() > 0
        and x.stride(-1) == 1
        and x.data_ptr() % TMA_ALIGNMENT_BYTES == 0
        # A step of 0, as of an expanded tensor, is not a stride that TMA knows.
        and all(step > 0 and step * x.element_size() % TMA_ALIGNMENT_BYTES == 0 for step in steps[:-1])
    )


def describe(x: Tensor, rows: int) -> Any:
    """Tensor descriptor of x (B, H, T, D) for tiles of `rows` rows and all its columns, padded."""
    return TensorDescriptor(x, list(x.shape), _descriptor_strides(x), [1, 1, rows, padded_width(x.shape[-1])])


def _descriptor_strides(x: Tensor) -> list[int]:
    """x's strides; for dimensions of one, whose stride means nothing, one that TMA accepts."""
    return [
        TMA_ALIGNMENT_BYTES if size == 1 and dim < x.ndim - 1 else step
        for dim, (size, step) in enumerate(zip(x.shape, x.stride(), strict=True))
    ]


def check_kernel_inputs(*tensors: Tensor) -> None:
    """Refuse what the kernels do not take.

    Raises:
        TypeError: dtypes differ, or are none of fp16, bf16, fp32.
        ValueError: tensors on different devices, or on one that no kernel here can run on.
    """
    dtypes = {each.dtype for each in tensors}
    if len(dtypes) > 1 or not dtypes <= {torch.float16, torch.bfloat16, torch.float32}:
        names = ", ".join(sorted(str(each) for each in dtypes))
        raise TypeError(f"inputs are {names}: give all of them one of fp16, bf16, fp32")
    devices = {each.device for each in tensors}
    if len(devices) > 1:
        raise ValueError(f"inputs are on {', '.join(sorted(map(str, devices)))}: move them to one device")
