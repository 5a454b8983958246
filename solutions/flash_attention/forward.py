# %% [markdown]
# # FlashAttention, forward
#
# Sections 7 and 9 of the handout: one function, seven exercises. Begin with the square fp32 case and keep it passing
# while you generalise.

# %%
"""FlashAttention's forward pass in Triton: query tiles stay on chip, keys and values stream by, T×T never exists."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)
"""exp(x) = exp2(x · log2 e): the hardware's exponential is exp2."""


# %% tags=["instructor"]
@triton.jit
def _forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    q_batch, q_head, q_row, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    out_batch, out_head, out_row, out_col,
    heads, group, queries, keys, scale_log2,
    D: tl.constexpr, D_PADDED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One program: ROWS queries of one head against all keys that they see, COLS at a time."""
    tile, batch_head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    batch, head = batch_head // heads, batch_head % heads
    kv_head = head // group  # `group` query heads in a row share one head of keys and values
    q_ptr += batch * q_batch + head * q_head
    k_ptr += batch * k_batch + kv_head * k_head
    v_ptr += batch * v_batch + kv_head * v_head
    out_ptr += batch * out_batch + head * out_head
    rows = tile * ROWS + tl.arange(0, ROWS)
    dims = tl.arange(0, D_PADDED)
    row_inside, dim_inside = rows < queries, dims < D
    q = tl.load(
        q_ptr + rows[:, None] * q_row + dims[None, :] * q_col,
        mask=row_inside[:, None] & dim_inside[None, :],
        other=0.0,
    )
    running_max = tl.full((ROWS,), -float("inf"), tl.float32)
    running_sum = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D_PADDED), tl.float32)
    # Query i sees key j when j <= i + keys - queries: the last query sees the last key. Tiles to the right of the
    # last row's diagonal hold nothing for this program.
    end = keys
    if CAUSAL:
        end = tl.minimum(keys, (tile + 1) * ROWS + keys - queries)
    for start in range(0, end, COLS):
        cols = start + tl.arange(0, COLS)
        col_inside = cols < keys
        k = tl.load(
            k_ptr + dims[:, None] * k_col + cols[None, :] * k_row,
            mask=dim_inside[:, None] & col_inside[None, :],
            other=0.0,
        )
        scores = tl.dot(q, k, input_precision=PRECISION) * scale_log2
        seen = col_inside[None, :]
        if CAUSAL:
            seen = seen & (cols[None, :] <= rows[:, None] + keys - queries)
        scores = tl.where(seen, scores, -float("inf"))
        new_max = tl.maximum(running_max, tl.max(scores, axis=1))
        # Where nothing was seen yet the maximum is -inf, and -inf - -inf would be NaN.
        shift = tl.where(new_max == -float("inf"), 0.0, new_max)
        p = tl.exp2(scores - shift[:, None])
        correction = tl.exp2(running_max - shift)
        running_sum = running_sum * correction + tl.sum(p, axis=1)  # of p in fp32, before it is rounded
        v = tl.load(
            v_ptr + cols[:, None] * v_row + dims[None, :] * v_col,
            mask=col_inside[:, None] & dim_inside[None, :],
            other=0.0,
        )
        acc = acc * correction[:, None] + tl.dot(p.to(v.dtype), v, input_precision=PRECISION)
        running_max = new_max
    nothing_seen = running_sum == 0.0
    out = acc / tl.where(nothing_seen, 1.0, running_sum)[:, None]
    # The maximum is in units of log 2; lse is the natural logarithm.
    lse = tl.where(nothing_seen, -float("inf"), running_max * 0.6931471805599453 + tl.log(running_sum))
    tl.store(
        out_ptr + rows[:, None] * out_row + dims[None, :] * out_col,
        out.to(out_ptr.dtype.element_ty),
        mask=row_inside[:, None] & dim_inside[None, :],
    )
    tl.store(lse_ptr + batch_head * queries + rows, lse, mask=row_inside)


def _as_four_dimensions(x: Tensor) -> Tensor:
    """(..., H, T, D) as (B, H, T, D): a view wherever the leading dimensions allow one."""
    while x.dim() < 4:
        x = x.unsqueeze(0)
    return x.flatten(0, -4)


# %% nbgrader={"grade": false, "grade_id": "flash_attention.flash_forward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Attention softmax(q kᵀ · scale) v by tiles, in a Triton kernel of your own, and its logsumexp.

    Write the kernel above this function. No temporary of T_q × T_k elements, no attention of a library.

    Args:
        q: shape (..., T_q, D), fp32, fp16 or bf16; none, one or more leading dimensions; any strides.
        k, v: shape (..., T_k, D), dtype of q. With three dimensions or more the last but two are heads, and k and v
            may have fewer: query head h reads head h // (H / H_kv), as in grouped-query attention.
        causal: query i sees key j only if j <= i + T_k - T_q, aligned at the bottom right.
        scale: of the scores; 1/sqrt(D) if None.

    Returns:
        out: shape of q, dtype of q; accumulated in fp32.
        lse: shape (..., T_q), fp32: log of the sum of exp(scores), natural logarithm, scale included.
        A query that sees no key has output 0 and lse -inf.

    Source: Dao et al. 2022 (arXiv 2205.14135), algorithm 1; Dao 2023 (arXiv 2307.08691), algorithm 1.
    """
    ### BEGIN SOLUTION
    queries, width = q.shape[-2:]
    keys = k.shape[-2]
    scale = 1.0 / math.sqrt(width) if scale is None else scale
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    q4, k4, v4, out4 = (_as_four_dimensions(x) for x in (q, k, v, out))
    batch, heads = q4.shape[:2]
    padded = max(16, triton.next_power_of_2(width))  # a dot needs 16 at least
    rows = 64
    cols = 64 if padded <= 128 else 32
    grid = (triton.cdiv(queries, rows), batch * heads)
    _forward_kernel[grid](
        q4, k4, v4, out4, lse,
        *q4.stride(), *k4.stride(), *v4.stride(), *out4.stride(),
        heads, heads // k4.shape[1], queries, keys, scale * LOG2_E,
        D=width, D_PADDED=padded, ROWS=rows, COLS=cols, CAUSAL=causal,
        PRECISION="ieee" if q.dtype == torch.float32 else "tf32",
        num_warps=4, num_stages=2,
    )  # fmt: skip
    return out, lse
    ### END SOLUTION
