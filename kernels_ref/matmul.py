"""Matrix product in Triton: grouped order of tiles, loads by TMA on Hopper and through pointers elsewhere.

Source: the grouped order is that of Triton's matmul tutorial: programs that run together take tiles of C from a
few rows of tiles, so that the panels of A and B that they read are still in L2.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# A kernel's parameters have no Python types; triton would take annotations for dtypes.

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels_ref import tiles
from kernels_ref.tuning import Config, pick

CONFIGS = (
    Config(rows=128, columns=256, depth=64, warps=8, stages=3),
    Config(rows=128, columns=128, depth=64, warps=8, stages=4),
    Config(rows=128, columns=128, depth=64, warps=4, stages=4),
    Config(rows=128, columns=128, depth=32, warps=4, stages=4),
    Config(rows=64, columns=128, depth=64, warps=4, stages=4),
    Config(rows=64, columns=64, depth=32, warps=4, stages=4),
)
"""rows, columns: of a tile of C; depth: of the tiles of A and B along the summed dimension."""

GROUP_ROWS = 8


@triton.jit
def matmul_kernel(
    a,
    b,
    c,
    a_row_stride,
    a_column_stride,
    b_row_stride,
    b_column_stride,
    m,
    n,
    k,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    GROUP: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """One tile of C (m, n), contiguous, = A (m, k) · B (k, n)."""
    row_tiles = tl.cdiv(m, ROWS)
    in_group = GROUP * tl.cdiv(n, COLUMNS)
    group = tl.program_id(0) // in_group
    group_rows = tl.minimum(row_tiles - group * GROUP, GROUP)
    row_start = (group * GROUP + tl.program_id(0) % in_group % group_rows) * ROWS
    column_start = tl.program_id(0) % in_group // group_rows * COLUMNS
    row = (row_start + tl.arange(0, ROWS))[:, None].to(tl.int64)
    column = (column_start + tl.arange(0, COLUMNS))[None, :].to(tl.int64)
    acc = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in tl.range(0, k, DEPTH):
        if DESCRIPTORS:
            left = a.load([row_start, start])
            right = b.load([start, column_start])
        else:
            inner = start + tl.arange(0, DEPTH).to(tl.int64)
            left_mask = (row < m) & (inner < k)[None, :]
            right_mask = (inner < k)[:, None] & (column < n)
            left = tl.load(
                a + row * a_row_stride + inner[None, :] * a_column_stride, mask=left_mask, other=0.0
            )
            right = tl.load(
                b + inner[:, None] * b_row_stride + column * b_column_stride, mask=right_mask, other=0.0
            )
        acc = tl.dot(left, right, acc, input_precision=PRECISION)
    tl.store(c + row * n + column, acc.to(c.dtype.element_ty), mask=(row < m) & (column < n))


def matmul(
    a: Tensor,
    b: Tensor,
    *,
    precision: str = "ieee",
    config: Config | None = None,
    descriptors: bool | None = None,
) -> Tensor:
    """A (m, k) · B (k, n) of any strides, summed in fp32; (m, n) in their dtype, contiguous.

    precision, config, descriptors: as for `flash_attention_forward`.

    Raises:
        ValueError: shapes do not fit together.
        TypeError: dtypes differ or are not fp16, bf16, fp32.
    """
    tiles.check_kernel_inputs(a, b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"a {tuple(a.shape)}, b {tuple(b.shape)}: give (m, k) and (k, n)")
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    by_descriptor = tiles.has_descriptors() if descriptors is None else descriptors
    by_descriptor = by_descriptor and tiles.can_describe(a) and tiles.can_describe(b)

    def launch(chosen: Config) -> None:
        sources: tuple[Any, ...] = (a, b)
        if by_descriptor:
            sources = (
                TensorDescriptor.from_tensor(a, [chosen.rows, chosen.depth]),
                TensorDescriptor.from_tensor(b, [chosen.depth, chosen.columns]),
            )
        matmul_kernel[(triton.cdiv(m, chosen.rows) * triton.cdiv(n, chosen.columns),)](
            *sources,
            c,
            *a.stride(),
            *b.stride(),
            m,
            n,
            k,
            ROWS=chosen.rows,
            COLUMNS=chosen.columns,
            DEPTH=chosen.depth,
            GROUP=GROUP_ROWS,
            DESCRIPTORS=by_descriptor,
            PRECISION=precision,
            num_warps=chosen.warps,
            num_stages=chosen.stages,
        )

    if c.numel():
        key = (m, n, k, a.stride(), b.stride(), precision)
        pick("matmul", CONFIGS, a, key, launch, width=1, descriptors=by_descriptor, config=config)
    return c
