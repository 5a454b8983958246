"""The backward kernels of the solution with a switch for each usual mistake: no mistake by itself.

FAULT is a constant of the kernels, so each mistake compiles to kernels of its own.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)


@triton.jit
def _delta_kernel(
    out_ptr, grad_ptr, delta_ptr,
    out_batch, out_head, out_row, out_col,
    grad_batch, grad_head, grad_row, grad_col,
    heads, queries,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr, FAULT: tl.constexpr,
):  # fmt: skip
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
    if FAULT == "delta_missing":
        delta = delta * 0.0
    if FAULT == "delta_of_out":
        delta = tl.sum(out.to(tl.float32) * out.to(tl.float32), axis=1)
    tl.store(delta_ptr + batch_head * queries + rows, delta, mask=rows < queries)


@triton.jit
def _load_tile(ptr, rows, dims, row_stride, col_stride, count, D: tl.constexpr):
    inside = (rows < count)[:, None] & (dims < D)[None, :]
    return tl.load(ptr + rows[:, None] * row_stride + dims[None, :] * col_stride, mask=inside, other=0.0)


@triton.jit
def _probabilities(
    q, k, lse, rows, cols, queries, keys, scale_log2,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, FAULT: tl.constexpr,
):  # fmt: skip
    scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale_log2
    seen = (rows < queries)[:, None] & (cols < keys)[None, :]
    if CAUSAL:
        seen = seen & (cols[None, :] <= rows[:, None] + keys - queries)
    # lse is -inf in a row that sees nothing; there is then nothing seen, and 0 keeps the difference finite.
    lse_log2 = tl.where(lse == -float("inf"), 0.0, lse * 1.4426950408889634)
    if FAULT == "lse_in_base_two":
        lse_log2 = tl.where(lse == -float("inf"), 0.0, lse)
    if FAULT == "unseen_nan":
        lse_log2 = lse * 1.4426950408889634
        scores = tl.where(seen, scores, -float("inf"))
        return tl.exp2(scores - lse_log2[:, None])
    return tl.exp2(tl.where(seen, scores - lse_log2[:, None], -float("inf")))


@triton.jit
def _key_value_kernel(
    q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, dq_ptr,
    q_batch, q_head, q_row, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    grad_batch, grad_head, grad_row, grad_col,
    heads, group, queries, keys, scale, scale_log2,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, FAULT: tl.constexpr,
):  # fmt: skip
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
        if FAULT == "unseen_nan":
            first = 0
        if FAULT == "first_query_rounded_up":
            first = (tl.maximum(0, tile * COLS - (keys - queries)) + ROWS - 1) // ROWS * ROWS
    first_member = 0
    if FAULT == "last_head_only":
        first_member = group - 1
    for member in range(first_member, group):
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
            p = _probabilities(q, k, lse, rows, cols, queries, keys, scale_log2, CAUSAL, PRECISION, FAULT)
            dv += tl.dot(tl.trans(p.to(grad.dtype)), grad, input_precision=PRECISION)
            dp = tl.dot(grad, tl.trans(v), input_precision=PRECISION)
            ds = p * (dp - delta[:, None])
            if FAULT == "p_missing":
                ds = dp - delta[:, None]
            dk += tl.dot(tl.trans(ds.to(q.dtype)), q, input_precision=PRECISION)
            if FAULT == "sums_in_half":
                dk = dk.to(q.dtype).to(tl.float32)
                dv = dv.to(q.dtype).to(tl.float32)
            if FAULT == "dq_added_without_atomics":
                mine = dq_ptr + row_offset * D + rows[:, None] * D + dims[None, :]
                mine_inside = (rows < queries)[:, None] & (dims < D)[None, :]
                so_far = tl.load(mine, mask=mine_inside, other=0.0)
                more = tl.dot(ds.to(k.dtype), k, input_precision=PRECISION) * scale
                tl.store(mine, (so_far + more).to(dq_ptr.dtype.element_ty), mask=mine_inside)
    inside = (cols < keys)[:, None] & (dims < D)[None, :]
    offsets = batch_kv * keys * D + cols[:, None] * D + dims[None, :]
    if FAULT == "dk_without_scale":
        dk = dk / scale
    if FAULT == "dv_scaled":
        dv = dv * scale
    tl.store(dk_ptr + offsets, (dk * scale).to(dk_ptr.dtype.element_ty), mask=inside)
    tl.store(dv_ptr + offsets, dv.to(dv_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _query_kernel(
    q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dq_ptr, p_ptr,
    q_batch, q_head, q_row, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    grad_batch, grad_head, grad_row, grad_col,
    heads, group, queries, keys, scale, scale_log2,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, FAULT: tl.constexpr,
):  # fmt: skip
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
        if FAULT == "keys_not_masked":
            v = tl.load(v_head_ptr + cols[:, None] * v_row + dims[None, :] * v_col)
        else:
            v = _load_tile(v_head_ptr, cols, dims, v_row, v_col, keys, D)
        p = _probabilities(q, k, lse, rows, cols, queries, keys, scale_log2, CAUSAL, PRECISION, FAULT)
        dp = tl.dot(grad, tl.trans(v), input_precision=PRECISION)
        ds = p * (dp - delta[:, None])
        if FAULT == "p_missing":
            ds = dp - delta[:, None]
        if FAULT == "scores_in_memory":
            ours = p_ptr + (batch_head * queries + rows[:, None]) * keys + cols[None, :]
            tl.store(
                ours, p.to(p_ptr.dtype.element_ty), mask=(rows < queries)[:, None] & (cols < keys)[None, :]
            )
        if FAULT == "dq_of_last_tile":
            dq = tl.zeros((ROWS, D_PADDED), tl.float32)
        dq += tl.dot(ds.to(k.dtype), k, input_precision=PRECISION)
        if FAULT == "sums_in_half":
            dq = dq.to(k.dtype).to(tl.float32)
    inside = (rows < queries)[:, None] & (dims < D)[None, :]
    offsets = batch_head * queries * D + rows[:, None] * D + dims[None, :]
    if FAULT == "dq_without_scale":
        dq = dq / scale
    tl.store(dq_ptr + offsets, (dq * scale).to(dq_ptr.dtype.element_ty), mask=inside)


def _as_four_dimensions(x: Tensor) -> Tensor:
    while x.dim() < 4:
        x = x.unsqueeze(0)
    return x.flatten(0, -4)


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    causal: bool,
    scale: float | None,
    fault: str = "",
    *,
    grad_strides: tuple[int, ...] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The solution's launches with one fault in the kernels, or in the strides of grad_out."""
    queries, width = q.shape[-2:]
    keys = k.shape[-2]
    scale = 1.0 / math.sqrt(width) if scale is None else scale
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    q4, k4, v4, out4, grad4 = (_as_four_dimensions(x) for x in (q, k, v, out, grad_out))
    of_grad = grad_strides or grad4.stride()
    batch, heads = q4.shape[:2]
    kv_heads = k4.shape[1]
    lse = lse.contiguous()
    delta = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    square = delta
    if fault == "scores_in_memory":
        square = torch.empty((*q.shape[:-1], keys), dtype=q.dtype, device=q.device)
    if fault == "dq_added_without_atomics":
        dq.zero_()
    padded = max(16, triton.next_power_of_2(width))
    tile = 64 if padded <= 128 else 32
    precision = "ieee" if q.dtype == torch.float32 else "tf32"
    _delta_kernel[(triton.cdiv(queries, 64), batch * heads)](
        out4,
        grad4,
        delta,
        *out4.stride(),
        *of_grad,
        heads,
        queries,
        D=width,
        D_PADDED=padded,
        ROWS=64,
        FAULT=fault,
    )
    strides = (*q4.stride(), *k4.stride(), *v4.stride(), *of_grad)
    numbers = (heads, heads // kv_heads, queries, keys, scale, scale * LOG2_E)
    constants = {
        "D": width,
        "D_PADDED": padded,
        "ROWS": tile,
        "COLS": tile,
        "CAUSAL": causal,
        "PRECISION": precision,
        "FAULT": fault,
        "num_warps": 4 if padded <= 64 else 8,
        "num_stages": 2 if padded <= 64 else 1,
    }
    _key_value_kernel[(triton.cdiv(keys, tile), batch * kv_heads)](
        q4, k4, v4, grad4, lse, delta, dk, dv, dq, *strides, *numbers, **constants
    )
    if fault == "dq_added_without_atomics":
        return dq, dk, dv
    _query_kernel[(triton.cdiv(queries, tile), batch * heads)](
        q4, k4, v4, grad4, lse, delta, dq, square, *strides, *numbers, **constants
    )
    return dq, dk, dv
