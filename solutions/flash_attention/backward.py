# %% [markdown]
# # FlashAttention, backward
#
# Section 8 of the handout: the scores are computed again, from q, k and the logsumexp that the forward pass saved.

# %%
"""FlashAttention's backward pass in Triton, and the autograd Function that joins it to the forward pass."""

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from .forward import flash_forward

LOG2_E = math.log2(math.e)


# %% tags=["instructor"]
@triton.jit
def _delta_kernel(
    out_ptr, grad_ptr, delta_ptr,
    out_batch, out_head, out_row, out_col,
    grad_batch, grad_head, grad_row, grad_col,
    heads, queries,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """delta of each row: the sum of out · grad_out over D, which is the sum of p · dp over all keys."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    batch_head = tl.program_id(1).to(tl.int64)
    batch, head = batch_head // heads, batch_head % heads
    dims = tl.arange(0, D_PADDED)
    inside = (rows < queries)[:, None] & (dims < D)[None, :]
    out_ptr += batch * out_batch + head * out_head
    grad_ptr += batch * grad_batch + head * grad_head
    out = tl.load(out_ptr + rows[:, None] * out_row + dims[None, :] * out_col, mask=inside, other=0.0)
    grad = tl.load(grad_ptr + rows[:, None] * grad_row + dims[None, :] * grad_col, mask=inside, other=0.0)
    delta = tl.sum(out.to(tl.float32) * grad.to(tl.float32), axis=1)
    tl.store(delta_ptr + batch_head * queries + rows, delta, mask=rows < queries)


@triton.jit
def _load_tile(ptr, rows, dims, row_stride, col_stride, count, D: tl.constexpr):
    """Rows `rows` of a (count, D) matrix, zeros outside of it."""
    inside = (rows < count)[:, None] & (dims < D)[None, :]
    return tl.load(ptr + rows[:, None] * row_stride + dims[None, :] * col_stride, mask=inside, other=0.0)


@triton.jit
def _probabilities(
    q, k, lse, rows, cols, queries, keys, scale_log2, CAUSAL: tl.constexpr, PRECISION: tl.constexpr
):
    """P of one tile, rows of queries by columns of keys, from the saved logsumexp: no maximum, no division."""
    scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale_log2
    seen = (rows < queries)[:, None] & (cols < keys)[None, :]
    if CAUSAL:
        seen = seen & (cols[None, :] <= rows[:, None] + keys - queries)
    # lse is -inf in a row that sees nothing; there is then nothing seen, and 0 keeps the difference finite.
    lse_log2 = tl.where(lse == -float("inf"), 0.0, lse * 1.4426950408889634)
    return tl.exp2(tl.where(seen, scores - lse_log2[:, None], -float("inf")))


@triton.jit
def _key_value_kernel(
    q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr,
    q_batch, q_head, q_row, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    grad_batch, grad_head, grad_row, grad_col,
    heads, group, queries, keys, scale, scale_log2,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One program: dK and dV of COLS keys of one head, over all queries of all heads that share it."""
    tile, batch_kv = tl.program_id(0), tl.program_id(1).to(tl.int64)
    kv_heads = heads // group
    batch, kv_head = batch_kv // kv_heads, batch_kv % kv_heads
    cols = tile * COLS + tl.arange(0, COLS)
    dims = tl.arange(0, D_PADDED)
    k = _load_tile(k_ptr + batch * k_batch + kv_head * k_head, cols, dims, k_row, k_col, keys, D)
    v = _load_tile(v_ptr + batch * v_batch + kv_head * v_head, cols, dims, v_row, v_col, keys, D)
    dk = tl.zeros((COLS, D_PADDED), tl.float32)
    dv = tl.zeros((COLS, D_PADDED), tl.float32)
    # Under causal the first query that sees this tile's first key is key - (keys - queries): round it down to a tile.
    first = 0
    if CAUSAL:
        first = tl.maximum(0, tile * COLS - (keys - queries)) // ROWS * ROWS
    for member in range(0, group):
        head = kv_head * group + member
        q_head_ptr = q_ptr + batch * q_batch + head * q_head
        grad_head_ptr = grad_ptr + batch * grad_batch + head * grad_head
        row_offset = (batch * heads + head) * queries
        for start in range(first, queries, ROWS):
            rows = start + tl.arange(0, ROWS)
            q = _load_tile(q_head_ptr, rows, dims, q_row, q_col, queries, D)
            grad = _load_tile(grad_head_ptr, rows, dims, grad_row, grad_col, queries, D)
            lse = tl.load(lse_ptr + row_offset + rows, mask=rows < queries, other=0.0)
            delta = tl.load(delta_ptr + row_offset + rows, mask=rows < queries, other=0.0)
            p = _probabilities(q, k, lse, rows, cols, queries, keys, scale_log2, CAUSAL, PRECISION)
            dv += tl.dot(tl.trans(p.to(grad.dtype)), grad, input_precision=PRECISION)
            dp = tl.dot(grad, tl.trans(v), input_precision=PRECISION)
            ds = p * (dp - delta[:, None])
            dk += tl.dot(tl.trans(ds.to(q.dtype)), q, input_precision=PRECISION)
    inside = (cols < keys)[:, None] & (dims < D)[None, :]
    offsets = batch_kv * keys * D + cols[:, None] * D + dims[None, :]
    tl.store(dk_ptr + offsets, (dk * scale).to(dk_ptr.dtype.element_ty), mask=inside)
    tl.store(dv_ptr + offsets, dv.to(dv_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _query_kernel(
    q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dq_ptr,
    q_batch, q_head, q_row, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    grad_batch, grad_head, grad_row, grad_col,
    heads, group, queries, keys, scale, scale_log2,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One program: dQ of ROWS queries of one head, over all keys that they see."""
    tile, batch_head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    batch, head = batch_head // heads, batch_head % heads
    kv_head = head // group
    rows = tile * ROWS + tl.arange(0, ROWS)
    dims = tl.arange(0, D_PADDED)
    q = _load_tile(q_ptr + batch * q_batch + head * q_head, rows, dims, q_row, q_col, queries, D)
    grad = _load_tile(
        grad_ptr + batch * grad_batch + head * grad_head, rows, dims, grad_row, grad_col, queries, D
    )
    lse = tl.load(lse_ptr + batch_head * queries + rows, mask=rows < queries, other=0.0)
    delta = tl.load(delta_ptr + batch_head * queries + rows, mask=rows < queries, other=0.0)
    k_head_ptr = k_ptr + batch * k_batch + kv_head * k_head
    v_head_ptr = v_ptr + batch * v_batch + kv_head * v_head
    dq = tl.zeros((ROWS, D_PADDED), tl.float32)
    end = keys
    if CAUSAL:
        end = tl.minimum(keys, (tile + 1) * ROWS + keys - queries)
    for start in range(0, end, COLS):
        cols = start + tl.arange(0, COLS)
        k = _load_tile(k_head_ptr, cols, dims, k_row, k_col, keys, D)
        v = _load_tile(v_head_ptr, cols, dims, v_row, v_col, keys, D)
        p = _probabilities(q, k, lse, rows, cols, queries, keys, scale_log2, CAUSAL, PRECISION)
        dp = tl.dot(grad, tl.trans(v), input_precision=PRECISION)
        ds = p * (dp - delta[:, None])
        dq += tl.dot(ds.to(k.dtype), k, input_precision=PRECISION)
    inside = (rows < queries)[:, None] & (dims < D)[None, :]
    offsets = batch_head * queries * D + rows[:, None] * D + dims[None, :]
    tl.store(dq_ptr + offsets, (dq * scale).to(dq_ptr.dtype.element_ty), mask=inside)


def _as_four_dimensions(x: Tensor) -> Tensor:
    """(..., H, T, D) as (B, H, T, D): a view wherever the leading dimensions allow one."""
    while x.dim() < 4:
        x = x.unsqueeze(0)
    return x.flatten(0, -4)


# %% nbgrader={"grade": false, "grade_id": "flash_attention.flash_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def flash_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of attention by recomputation, in Triton kernels of your own.

    With P = exp(scores - lse), delta = sum over D of out · grad_out and dP = grad_out vᵀ:
    dV = Pᵀ grad_out, dS = P · (dP - delta), dQ = dS k · scale, dK = dSᵀ q · scale.

    Write the kernels above this function. No temporary of T_q × T_k elements, no autograd, no attention of a library.

    Args:
        q, k, v, causal, scale: as they were given to `flash_forward`.
        out, lse: what `flash_forward` returned.
        grad_out: gradient of out, of its shape; any strides.

    Returns:
        dq, dk, dv in the shapes and dtypes of q, k and v. Heads that share k and v add up in dk and dv. A query that
        sees no key has gradient 0 and gives none.

    Source: Dao et al. 2022 (arXiv 2205.14135), appendix B.2 and algorithm 4; Dao 2023 (arXiv 2307.08691), algorithm 2.
    """
    ### BEGIN SOLUTION
    queries, width = q.shape[-2:]
    keys = k.shape[-2]
    scale = 1.0 / math.sqrt(width) if scale is None else scale
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    q4, k4, v4, out4, grad4 = (_as_four_dimensions(x) for x in (q, k, v, out, grad_out))
    batch, heads = q4.shape[:2]
    kv_heads = k4.shape[1]
    lse = lse.contiguous()
    delta = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    padded = max(16, triton.next_power_of_2(width))
    tile = 64 if padded <= 128 else 32
    precision = "ieee" if q.dtype == torch.float32 else "tf32"
    _delta_kernel[(triton.cdiv(queries, 64), batch * heads)](
        out4, grad4, delta, *out4.stride(), *grad4.stride(), heads, queries, D=width, D_PADDED=padded, ROWS=64
    )
    strides = (*q4.stride(), *k4.stride(), *v4.stride(), *grad4.stride())
    numbers = (heads, heads // kv_heads, queries, keys, scale, scale * LOG2_E)
    constants = {
        "D": width,
        "D_PADDED": padded,
        "ROWS": tile,
        "COLS": tile,
        "CAUSAL": causal,
        "PRECISION": precision,
        "num_warps": 4 if padded <= 64 else 8,
        "num_stages": 2 if padded <= 64 else 1,
    }
    _key_value_kernel[(triton.cdiv(keys, tile), batch * kv_heads)](
        q4, k4, v4, grad4, lse, delta, dk, dv, *strides, *numbers, **constants
    )
    _query_kernel[(triton.cdiv(queries, tile), batch * heads)](
        q4, k4, v4, grad4, lse, delta, dq, *strides, *numbers, **constants
    )
    return dq, dk, dv
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "flash_attention.FlashAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FlashAttention(torch.autograd.Function):
    """`FlashAttention.apply(q, k, v, is_causal)`: your forward and backward passes as one node of autograd's graph.

    The convention is that of Stanford's CS336, assignment 2: a Function written there passes here. The tensors have
    shape (..., T, D); the output is out alone, and lse is saved for the backward pass with q, k, v and out.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False) -> Tensor:
        """Return out of `flash_forward`, and save what backward needs."""
        ### BEGIN SOLUTION
        out, lse = flash_forward(q, k, v, causal=is_causal)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.is_causal = is_causal
        return out
        ### END SOLUTION

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Return the gradients of q, k and v by `flash_backward`, and None for is_causal."""
        ### BEGIN SOLUTION
        q, k, v, out, lse = ctx.saved_tensors
        return *flash_backward(q, k, v, out, lse, grad_out, causal=ctx.is_causal), None
        ### END SOLUTION
