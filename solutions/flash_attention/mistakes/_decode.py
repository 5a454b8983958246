"""The decoding kernels of the solution with a switch for each usual mistake: no mistake by itself.

FAULT is a constant of the kernels, so each mistake compiles to kernels of its own.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)


@triton.jit
def _part_kernel(
    q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr,
    q_batch, q_head, q_col,
    k_batch, k_head, k_row, k_col,
    v_batch, v_head, v_row, v_col,
    kv_heads, keys, keys_per_split, scale_log2,
    GROUP: tl.constexpr, GROUP_PADDED: tl.constexpr, D: tl.constexpr, D_PADDED: tl.constexpr, COLS: tl.constexpr,
    PRECISION: tl.constexpr, FAULT: tl.constexpr,
):  # fmt: skip
    split, splits = tl.program_id(0), tl.num_programs(0)
    batch_kv = tl.program_id(1).to(tl.int64)
    batch, kv_head = batch_kv // kv_heads, batch_kv % kv_heads
    members, dims = tl.arange(0, GROUP_PADDED), tl.arange(0, D_PADDED)
    member_inside, dim_inside = members < GROUP, dims < D
    heads = kv_head * GROUP + members
    if FAULT == "heads_modulo":
        heads = members * kv_heads + kv_head
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
    if FAULT == "keys_shared_by_parts":
        whole_tiles = (keys_per_split + COLS - 1) // COLS * COLS
        end = tl.minimum(keys, split * keys_per_split + whole_tiles)
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
    if FAULT == "parts_not_divided":
        running_sum = tl.where(running_sum == 0.0, 0.0, 1.0)
    nothing_seen = running_sum == 0.0
    acc = acc / tl.where(nothing_seen, 1.0, running_sum)[:, None]
    lse_log2 = tl.where(nothing_seen, -float("inf"), running_max + tl.log2(running_sum))
    if FAULT == "empty_part_nan":
        acc = tl.where(nothing_seen[:, None], acc / running_sum[:, None], acc)
        lse_log2 = tl.where(nothing_seen, running_max - running_max, lse_log2)
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
    FAULT: tl.constexpr,
):  # fmt: skip
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
    if FAULT == "parts_averaged":
        out = tl.sum(parts, axis=0) / SPLITS
    if FAULT == "parts_added":
        out = tl.sum(parts, axis=0)
    if FAULT == "lse_of_largest_part":
        lse = largest * 0.6931471805599453
    if FAULT == "lse_in_base_two":
        lse = shift + tl.log2(total)
    tl.store(out_ptr + head * D + dims, out.to(out_ptr.dtype.element_ty), mask=dim_inside)
    tl.store(lse_ptr + head, lse)


def run(
    q: Tensor, k: Tensor, v: Tensor, splits: int, scale: float | None, fault: str = ""
) -> tuple[Tensor, Tensor]:
    """The solution's launches with one fault in the kernels, or in how keys are dealt out."""
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
    if fault == "remainder_dropped":
        keys_per_split = keys // splits
        keys = keys_per_split * splits
    if fault == "keys_shared_by_parts":
        keys_per_split = max(1, triton.cdiv(keys, splits))
    _part_kernel[(splits, batch * kv_heads)](
        q, k, v, parts, part_lse,
        q.stride(0), q.stride(1), q.stride(3), *k.stride(), *v.stride(),
        kv_heads, keys, keys_per_split, scale * LOG2_E,
        GROUP=group, GROUP_PADDED=max(16, triton.next_power_of_2(group)), D=width, D_PADDED=padded, COLS=cols,
        PRECISION="ieee" if q.dtype == torch.float32 else "tf32",
        FAULT=fault,
    )  # fmt: skip
    _merge_kernel[(batch * heads,)](
        parts, part_lse, out, lse,
        SPLITS=splits, SPLITS_PADDED=triton.next_power_of_2(splits), D=width, D_PADDED=padded,
        FAULT=fault,
    )  # fmt: skip
    return out, lse
