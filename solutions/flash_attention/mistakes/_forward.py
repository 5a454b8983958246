"""The forward kernel of the solution with a switch for each usual mistake: no mistake by itself.

FAULT is a constant of the kernel, so each mistake compiles to a kernel of its own.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)


@triton.jit
def _forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    q_batch, q_head, q_row, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    out_batch, out_head, out_row, out_col,
    heads, group, queries, keys, scale_log2,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, FAULT: tl.constexpr,
):  # fmt: skip
    tile, batch_head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    batch, head = batch_head // heads, batch_head % heads
    kv_head = head // group
    if FAULT == "heads_modulo":
        kv_head = head % (heads // group)
    q_ptr += batch * q_batch + head * q_head
    k_ptr += batch * k_batch + kv_head * k_head
    v_ptr += batch * v_batch + kv_head * v_head
    out_ptr += batch * out_batch + head * out_head
    rows = tile * ROWS + tl.arange(0, ROWS)
    dims = tl.arange(0, D_PADDED)
    row_inside, dim_inside = rows < queries, dims < D
    q_inside = row_inside[:, None] & dim_inside[None, :]
    if FAULT == "queries_not_masked":
        q = tl.load(q_ptr + rows[:, None] * q_row + dims[None, :] * q_col)
    else:
        q = tl.load(q_ptr + rows[:, None] * q_row + dims[None, :] * q_col, mask=q_inside, other=0.0)
    running_max = tl.full((ROWS,), -float("inf"), tl.float32)
    if FAULT == "maximum_starts_at_zero":
        running_max = tl.zeros((ROWS,), tl.float32)
    running_sum = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D_PADDED), tl.float32)
    ahead = keys - queries
    if FAULT == "aligned_top_left":
        ahead = 0
    end = keys
    if FAULT == "tail_dropped":
        end = keys // COLS * COLS
    if FAULT == "query_count_for_keys":
        end = queries
    if CAUSAL and FAULT != "whole_square":
        end = tl.minimum(keys, (tile + 1) * ROWS + ahead)
        if FAULT == "causal_bound_rounded_down":
            end = tl.minimum(keys, ((tile + 1) * ROWS + ahead) // 128 * 128)
    for start in range(0, end, COLS):
        cols = start + tl.arange(0, COLS)
        col_inside = cols < keys
        k_inside = dim_inside[:, None] & col_inside[None, :]
        k = tl.load(k_ptr + dims[:, None] * k_col + cols[None, :] * k_row, mask=k_inside, other=0.0)
        if FAULT == "queries_loaded_in_the_loop":
            q = tl.load(q_ptr + rows[:, None] * q_row + dims[None, :] * q_col, mask=q_inside, other=0.0)
        if FAULT == "fp32_operands":
            scores = tl.dot(q.to(tl.float32), k.to(tl.float32), input_precision="ieee") * scale_log2
        else:
            scores = tl.dot(q, k, input_precision=PRECISION) * scale_log2
        if FAULT == "scores_computed_twice":
            scores = (scores + tl.dot(q, k, input_precision=PRECISION) * scale_log2) * 0.5
        seen = col_inside[None, :]
        if FAULT == "tail_not_masked":
            seen = cols[None, :] >= 0
        if CAUSAL and FAULT != "not_masked":
            if FAULT == "diagonal_hidden":
                seen = seen & (cols[None, :] < rows[:, None] + ahead)
            elif FAULT == "one_key_too_many":
                seen = seen & (cols[None, :] <= rows[:, None] + ahead + 1)
            else:
                seen = seen & (cols[None, :] <= rows[:, None] + ahead)
        before_mask = scores
        scores = tl.where(seen, scores, -float("inf"))
        if FAULT == "masked_after_exp":
            scores = tl.where(col_inside[None, :], before_mask, -float("inf"))
        new_max = tl.maximum(running_max, tl.max(scores, axis=1))
        shift = tl.where(new_max == -float("inf"), 0.0, new_max)
        if FAULT == "unseen_nan":
            shift = new_max
        if FAULT == "no_maximum":
            shift = tl.zeros((ROWS,), tl.float32)
        p = tl.exp2(scores - shift[:, None])
        correction = tl.exp2(running_max - shift)
        if FAULT == "no_maximum":
            correction = tl.full((ROWS,), 1.0, tl.float32)
        summed = p
        if FAULT == "p_cast_before_sum":
            summed = p.to(q_ptr.dtype.element_ty).to(tl.float32)
        if FAULT == "never_rescaled" or FAULT == "sum_not_rescaled":
            running_sum = running_sum + tl.sum(summed, axis=1)
        else:
            running_sum = running_sum * correction + tl.sum(summed, axis=1)
        if FAULT == "masked_after_exp":
            p = tl.where(seen, p, 0.0)
        v_inside = col_inside[:, None] & dim_inside[None, :]
        v = tl.load(v_ptr + cols[:, None] * v_row + dims[None, :] * v_col, mask=v_inside, other=0.0)
        if FAULT == "fp32_operands":
            products = tl.dot(p, v.to(tl.float32), input_precision="ieee")
        else:
            products = tl.dot(p.to(v.dtype), v, input_precision=PRECISION)
        if FAULT == "never_rescaled" or FAULT == "accumulator_not_rescaled":
            acc = acc + products
        elif FAULT == "last_tile_only":
            acc = products
        elif FAULT == "accumulator_in_half":
            acc = (acc * correction[:, None] + products).to(q_ptr.dtype.element_ty).to(tl.float32)
        elif FAULT == "divided_in_the_loop":
            acc = acc * correction[:, None] + products / running_sum[:, None]
        else:
            acc = acc * correction[:, None] + products
        running_max = new_max
    nothing_seen = running_sum == 0.0
    out = acc / tl.where(nothing_seen, 1.0, running_sum)[:, None]
    if FAULT == "unseen_nan":
        out = acc / running_sum[:, None]
    if FAULT == "not_divided":
        out = acc
    if FAULT == "divided_in_the_loop":
        out = acc
    base = running_max * 0.6931471805599453
    if FAULT == "no_maximum":
        base = tl.zeros((ROWS,), tl.float32)
    lse = tl.where(nothing_seen, -float("inf"), base + tl.log(running_sum))
    if FAULT == "lse_without_maximum":
        lse = tl.where(nothing_seen, -float("inf"), tl.log(running_sum))
    if FAULT == "lse_in_base_two":
        lse = tl.where(nothing_seen, -float("inf"), running_max + tl.log2(running_sum))
    if FAULT == "lse_mixes_bases":
        lse = tl.where(nothing_seen, -float("inf"), running_max + tl.log(running_sum))
    tl.store(
        out_ptr + rows[:, None] * out_row + dims[None, :] * out_col,
        out.to(out_ptr.dtype.element_ty),
        mask=q_inside,
    )
    tl.store(lse_ptr + batch_head * queries + rows, lse, mask=row_inside)


def _as_four_dimensions(x: Tensor) -> Tensor:
    while x.dim() < 4:
        x = x.unsqueeze(0)
    return x.flatten(0, -4)


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    causal: bool,
    scale: float | None,
    fault: str = "",
    *,
    log2_e: float = LOG2_E,
    rows: int = 64,
    cols: int = 64,
    strides_of: tuple[Tensor, Tensor, Tensor] | None = None,
    num_warps: int = 4,
) -> tuple[Tensor, Tensor]:
    """The solution's launch with one fault in the kernel."""
    queries, width = q.shape[-2:]
    keys = k.shape[-2]
    scale = 1.0 / math.sqrt(width) if scale is None else scale
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    q4, k4, v4, out4 = (_as_four_dimensions(x) for x in (q, k, v, out))
    strides = [s for x in strides_of or (q4, k4, v4) for s in _as_four_dimensions(x).stride()]
    batch, heads = q4.shape[:2]
    padded = max(16, triton.next_power_of_2(width))
    cols = min(cols, 32) if padded > 128 else cols
    _forward_kernel[(triton.cdiv(queries, rows), batch * heads)](
        q4, k4, v4, out4, lse,
        *strides, *out4.stride(),
        heads, heads // k4.shape[1], queries, keys, scale * log2_e,
        D=width, D_PADDED=padded, ROWS=rows, COLS=cols, CAUSAL=causal,
        PRECISION="ieee" if q.dtype == torch.float32 else "tf32", FAULT=fault,
        num_warps=num_warps, num_stages=2,
    )  # fmt: skip
    return out, lse
