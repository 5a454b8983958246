# %% [markdown]
# # FlashAttention for one token: split the keys
#
# Section 10 of the handout, extra credit.

# %%
"""Decoding in Triton: one query token, the keys split over programs, the parts merged by their logsumexp."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)


# %% tags=["instructor"]
@triton.jit
def _part_kernel(
    q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr,
    q_batch, q_head, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    kv_heads, keys, keys_per_split, scale_log2,
    GROUP: tl.constexpr, GROUP_PADDED: tl.constexpr, D: tl.constexpr, D_PADDED: tl.constexpr, COLS: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """One program: the heads that share one head of keys and values, as the rows of a tile, over one part of the keys."""
    split, splits = tl.program_id(0), tl.num_programs(0)
    batch_kv = tl.program_id(1).to(tl.int64)
    batch, kv_head = batch_kv // kv_heads, batch_kv % kv_heads
    members, dims = tl.arange(0, GROUP_PADDED), tl.arange(0, D_PADDED)
    member_inside, dim_inside = members < GROUP, dims < D
    heads = kv_head * GROUP + members
    q = tl.load(
        q_ptr + batch * q_batch + heads[:, None] * q_head + dims[None, :] * q_col,
        mask=member_inside[:, None] & dim_inside[None, :],
        other=0.0,
    )
    k_ptr += batch * k_batch + kv_head * k_head
    v_ptr += batch * v_batch + kv_head * v_head
    running_max = tl.full((GROUP_PADDED,), -float("inf"), tl.float32)
    running_sum = tl.zeros((GROUP_PADDED,), tl.float32)
    acc = tl.zeros((GROUP_PADDED, D_PADDED), tl.float32)
    end = tl.minimum(keys, (split + 1) * keys_per_split)
    for start in range(split * keys_per_split, end, COLS):
        cols = start + tl.arange(0, COLS)
        col_inside = cols < end
        k = tl.load(
            k_ptr + dims[:, None] * k_col + cols[None, :] * k_row,
            mask=dim_inside[:, None] & col_inside[None, :],
            other=0.0,
        )
        scores = tl.dot(q, k, input_precision=PRECISION) * scale_log2
        scores = tl.where(col_inside[None, :], scores, -float("inf"))
        new_max = tl.maximum(running_max, tl.max(scores, axis=1))  # finite: every tile here has a key
        p = tl.exp2(scores - new_max[:, None])
        correction = tl.exp2(running_max - new_max)
        running_sum = running_sum * correction + tl.sum(p, axis=1)
        v = tl.load(
            v_ptr + cols[:, None] * v_row + dims[None, :] * v_col,
            mask=col_inside[:, None] & dim_inside[None, :],
            other=0.0,
        )
        acc = acc * correction[:, None] + tl.dot(p.to(v.dtype), v, input_precision=PRECISION)
        running_max = new_max
    # A part without a key has weight exp2(-inf) = 0 in the merge.
    nothing_seen = running_sum == 0.0
    acc = acc / tl.where(nothing_seen, 1.0, running_sum)[:, None]
    lse_log2 = tl.where(nothing_seen, -float("inf"), running_max + tl.log2(running_sum))
    slots = (batch * kv_heads * GROUP + heads) * splits + split
    tl.store(
        part_ptr + slots[:, None] * D + dims[None, :],
        acc,
        mask=member_inside[:, None] & dim_inside[None, :],
    )
    tl.store(lse_ptr + slots, lse_log2, mask=member_inside)


@triton.jit
def _merge_kernel(
    part_ptr, part_lse_ptr, out_ptr, lse_ptr,
    SPLITS: tl.constexpr, SPLITS_PADDED: tl.constexpr, D: tl.constexpr, D_PADDED: tl.constexpr,
):  # fmt: skip
    """One program: merge the parts of one head, each weighted by exp2 of its logsumexp."""
    head = tl.program_id(0).to(tl.int64)
    splits, dims = tl.arange(0, SPLITS_PADDED), tl.arange(0, D_PADDED)
    split_inside, dim_inside = splits < SPLITS, dims < D
    part_lse = tl.load(part_lse_ptr + head * SPLITS + splits, mask=split_inside, other=-float("inf"))
    parts = tl.load(
        part_ptr + (head * SPLITS + splits)[:, None] * D + dims[None, :],
        mask=split_inside[:, None] & dim_inside[None, :],
        other=0.0,
    )
    largest = tl.max(part_lse, axis=0)
    shift = tl.where(largest == -float("inf"), 0.0, largest)
    weights = tl.exp2(part_lse - shift)
    total = tl.sum(weights, axis=0)
    out = tl.sum(parts * weights[:, None], axis=0) / tl.where(total == 0.0, 1.0, total)
    lse = tl.where(total == 0.0, -float("inf"), (shift + tl.log2(total)) * 0.6931471805599453)
    tl.store(out_ptr + head * D + dims, out.to(out_ptr.dtype.element_ty), mask=dim_inside)
    tl.store(lse_ptr + head, lse)


# %% nbgrader={"grade": false, "grade_id": "flash_attention.flash_decode", "locked": false, "schema_version": 3, "solution": true, "task": false}
def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Attention of one query token over a cache of keys, which `splits` programs a head share between them.

    One program a head would leave most SMs idle: split the keys, have each program return its part's normalised
    output and logsumexp, and merge the parts in a second kernel as in `merge_partials`.

    Args:
        q: shape (B, H, 1, D), fp32, fp16 or bf16; any strides.
        k, v: shape (B, H_kv, T, D), dtype of q; H is a multiple of H_kv, query head h reads head h // (H / H_kv).
        splits: parts of the keys, at least 1; the launch has `splits` programs along one of its axes, and parts
            may be empty where T is small.
        scale: of the scores; 1/sqrt(D) if None.

    Returns:
        out: shape of q, dtype of q.
        lse: shape (B, H, 1), fp32, natural logarithm. With T = 0: output 0 and lse -inf.

    Source: "Flash-Decoding for long-context inference" (Dao, Haziza, Massa, Sizov 2023).
    """
    ### BEGIN SOLUTION
    batch, heads, _, width = q.shape
    kv_heads, keys = k.shape[1], k.shape[2]
    group = heads // kv_heads
    scale = 1.0 / math.sqrt(width) if scale is None else scale
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    parts = torch.empty((batch, heads, splits, width), dtype=torch.float32, device=q.device)
    part_lse = torch.empty((batch, heads, splits), dtype=torch.float32, device=q.device)
    padded = max(16, triton.next_power_of_2(width))
    cols = 64 if padded <= 128 else 32
    # Whole tiles a part, so that no key is in two parts.
    keys_per_split = triton.cdiv(triton.cdiv(keys, splits), cols) * cols
    _part_kernel[(splits, batch * kv_heads)](
        q, k, v, parts, part_lse,
        q.stride(0), q.stride(1), q.stride(3), *k.stride(), *v.stride(),
        kv_heads, keys, keys_per_split, scale * LOG2_E,
        GROUP=group, GROUP_PADDED=max(16, triton.next_power_of_2(group)), D=width, D_PADDED=padded, COLS=cols,
        PRECISION="ieee" if q.dtype == torch.float32 else "tf32",
    )  # fmt: skip
    _merge_kernel[(batch * heads,)](
        parts, part_lse, out, lse,
        SPLITS=splits, SPLITS_PADDED=triton.next_power_of_2(splits), D=width, D_PADDED=padded,
    )  # fmt: skip
    return out, lse
    ### END SOLUTION
