"""FlashAttention for decoding: few queries against a long cache, the keys split among programs and merged.

With one query a head there is one tile of queries, too few programs for a GPU; so the keys are split, each
program gives the output and lse of its part, and a second kernel merges them. The query heads of a group share
a K/V head: they are packed into the rows of one tile, so that each byte of the cache is read once, not once a
query head. The time is that of reading the cache.

Source: Dao et al. 2023, Flash-Decoding (PyTorch blog), for the split; FlashAttention's `num_splits_heuristic`
for the idea of judging a number of splits by how full the last wave is; packing as in its `pack_gqa`.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# A kernel's parameters have no Python types; triton would take annotations for dtypes.

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels_ref import tiles
from kernels_ref.flash.forward import check_call, use_descriptors
from kernels_ref.naive import softmax_scale
from kernels_ref.tiles import load_tile
from kernels_ref.tuning import Config, pick

CONFIGS = (
    Config(rows=0, columns=64, warps=4, stages=3),
    Config(rows=0, columns=128, warps=4, stages=2),
    Config(rows=0, columns=64, warps=4, stages=4),
    Config(rows=0, columns=32, warps=4, stages=4),
)
"""columns: keys of a tile; rows is given by the group's size."""

MAX_ROWS = 64
PROGRAMS_PER_SM = 2
"""Small programs that wait for memory want company: FlashAttention's heuristic counts two to an SM as well."""

SMS_WITHOUT_GPU = 132
"""Of an H100 SXM: the number of splits is chosen as if for one where there is no GPU to ask."""


@triton.jit
def flash_decode_kernel(
    q,
    k,
    v,
    part_out,
    part_lse,
    q_strides,
    k_strides,
    v_strides,
    scale_log2,
    kv_heads,
    group,
    queries,
    keys,
    split_keys,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CAUSAL: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Output and lse of `split_keys` keys (a multiple of COLUMNS) for the packed queries of one K/V head.

    Row r of the tile is query r % queries of the group's member r // queries. part_out is
    (B, H_kv, splits, group · queries, D), part_lse the same without D, both fp32.
    """
    batch = tl.program_id(0) // kv_heads
    kv_head = tl.program_id(0) % kv_heads
    split = tl.program_id(1)
    row = tl.arange(0, ROWS)
    used = group * queries
    head = kv_head * group + row // queries
    position = row % queries
    column = tl.arange(0, WIDTH)
    inside = (row < used)[:, None] & (column < D)[None, :]
    origin = q + batch.to(tl.int64) * q_strides[0]
    distance = head.to(tl.int64) * q_strides[1] + position.to(tl.int64) * q_strides[2]
    query = tl.load(origin + distance[:, None] + column[None, :] * q_strides[3], mask=inside, other=0.0)

    largest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, WIDTH], tl.float32)
    first = split * split_keys
    for start in tl.range(first, tl.minimum(first + split_keys, keys), COLUMNS):
        key = load_tile(k, k_strides, batch, kv_head, start, keys, D, COLUMNS, WIDTH, DESCRIPTORS)
        scores = tl.dot(query, key.T, input_precision=PRECISION) * scale_log2
        # Masked in every tile: this kernel waits for memory, not for arithmetic.
        present = start + tl.arange(0, COLUMNS)[None, :]
        seen = present < keys
        if CAUSAL:
            seen = seen & (present <= (position + keys - queries)[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        grown = tl.maximum(largest, tl.max(scores, 1))
        subtracted = tl.where(grown == -float("inf"), 0.0, grown)
        weights = tl.exp2(scores - subtracted[:, None])
        rescale = tl.exp2(largest - subtracted)
        total = total * rescale + tl.sum(weights, 1)
        value = load_tile(v, v_strides, batch, kv_head, start, keys, D, COLUMNS, WIDTH, DESCRIPTORS)
        acc = tl.dot(weights.to(value.dtype), value, acc * rescale[:, None], input_precision=PRECISION)
        largest = grown

    total = tl.where(total == 0.0, 1.0, total)
    part = (tl.program_id(0).to(tl.int64) * tl.num_programs(1) + split) * used + row
    tl.store(part_out + part[:, None] * D + column[None, :], acc / total[:, None], mask=inside)
    tl.store(part_lse + part, (largest + tl.log2(total)) * 0.6931471805599453, mask=row < used)


@triton.jit
def merge_splits_kernel(
    part_out,
    part_lse,
    out,
    lse,
    splits,
    used,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    SPLITS: tl.constexpr,
):
    """One row: out = Σ exp(lseₛ − lse) · outₛ over the splits s, with lse = log Σ exp(lseₛ)."""
    row = tl.program_id(0)
    origin = (row // used).to(tl.int64) * splits * used + row % used
    split = tl.arange(0, SPLITS)
    part = origin + split * used
    log_sums = tl.load(part_lse + part, mask=split < splits, other=-float("inf"))
    largest = tl.max(log_sums, 0)
    subtracted = tl.where(largest == -float("inf"), 0.0, largest)
    weights = tl.exp(log_sums - subtracted)
    total = tl.sum(weights, 0)
    total = tl.where(total == 0.0, 1.0, total)
    column = tl.arange(0, WIDTH)
    inside = (split < splits)[:, None] & (column < D)[None, :]
    outs = tl.load(part_out + part[:, None] * D + column[None, :], mask=inside, other=0.0)
    merged = tl.sum(outs * weights[:, None], 0) / total
    target = out + row.to(tl.int64) * D + column
    tl.store(target, merged.to(out.dtype.element_ty), mask=column < D)
    tl.store(lse + row, largest + tl.log(total))


def flash_decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    splits: int | None = None,
    precision: str = "ieee",
    config: Config | None = None,
    descriptors: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of few queries, usually one, to a long cache.

    Args:
        q: (..., H, T_q, D) with (H / H_kv) · T_q ≤ 64; k, v: (..., H_kv, T_k, D). Any strides.
        splits: into how many parts the keys are cut at most; None: enough to fill the GPU.
        causal, scale, precision, config, descriptors: as for `flash_attention_forward`; with one query a causal
            mask hides nothing.

    Returns:
        out (..., H, T_q, D) in q's dtype and lse (..., H, T_q) in fp32.

    Raises:
        ValueError: as `flash_attention_forward`; more than 64 rows; or splits < 1.
        TypeError: as `flash_attention_forward`.
    """
    check_call(q, k, v, scale)
    queries, keys, values = (tiles.four_dimensional(each) for each in (q, k, v))
    batch, heads, length, width = queries.shape
    kv_heads, key_length = keys.shape[1:3]
    used = heads // kv_heads * length
    if used > MAX_ROWS:
        raise ValueError(
            f"{used} rows of queries share a K/V head: decode takes {MAX_ROWS}; use flash_attention"
        )
    if splits is not None and splits < 1:
        raise ValueError(f"splits = {splits}: give 1 or more")
    padded = tiles.padded_width(width)
    by_descriptor = use_descriptors(descriptors, keys, values)
    out = torch.empty(queries.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(queries.shape[:-1], dtype=torch.float32, device=q.device)

    def launch(chosen: Config) -> None:
        tile_count = max(1, triton.cdiv(key_length, chosen.columns))
        asked = splits or split_count(batch * kv_heads, tile_count, PROGRAMS_PER_SM * sm_count(q.device))
        split_keys = triton.cdiv(tile_count, min(asked, tile_count)) * chosen.columns
        parts = max(1, triton.cdiv(key_length, split_keys))
        part_out = torch.empty(batch, kv_heads, parts, used, width, dtype=torch.float32, device=q.device)
        part_lse = torch.empty(part_out.shape[:-1], dtype=torch.float32, device=q.device)
        flash_decode_kernel[(batch * kv_heads, parts)](
            queries,
            *((tiles.describe(x, chosen.columns) if by_descriptor else x) for x in (keys, values)),
            part_out,
            part_lse,
            queries.stride(),
            keys.stride(),
            values.stride(),
            softmax_scale(q, scale) * math.log2(math.e),
            kv_heads,
            heads // kv_heads,
            length,
            key_length,
            split_keys,
            D=width,
            WIDTH=padded,
            ROWS=max(16, triton.next_power_of_2(used)),
            COLUMNS=chosen.columns,
            CAUSAL=causal and length > 1,
            DESCRIPTORS=by_descriptor,
            PRECISION=precision,
            num_warps=chosen.warps,
            num_stages=chosen.stages,
        )
        merge_splits_kernel[(batch * heads * length,)](
            part_out,
            part_lse,
            out,
            lse,
            parts,
            used,
            D=width,
            WIDTH=padded,
            SPLITS=triton.next_power_of_2(parts),
            num_warps=4,
        )

    if out.numel():
        key = (tuple(queries.shape), tuple(keys.shape), causal, precision, splits)
        pick("flash_decode", CONFIGS, q, key, launch, width=width, descriptors=by_descriptor, config=config)
    return out.reshape(q.shape), lse.reshape(q.shape[:-1])


def split_count(programs: int, tile_count: int, slots: int) -> int:
    """Into how many parts to cut the keys: the fewest that leave the GPU nearly as full as can be.

    programs: without splitting (B · H_kv); tile_count: tiles of keys, the most parts there can be; slots: programs
    that the GPU runs at once. A number of parts is as good as the share of the slots that its waves keep busy;
    among those within 15 % of the best the smallest is taken, as every part writes its output.
    """
    most = max(1, min(tile_count, 128))

    def busy(parts: int) -> float:
        waves = programs * parts / slots
        return waves / math.ceil(waves)

    best = max(busy(parts) for parts in range(1, most + 1))
    return next(parts for parts in range(1, most + 1) if busy(parts) >= 0.85 * best)


def sm_count(device: torch.device) -> int:
    """Streaming multiprocessors of the device; an H100's where it is no GPU."""
    if device.type != "cuda":
        return SMS_WITHOUT_GPU
    return int(torch.cuda.get_device_properties(device).multi_processor_count)
