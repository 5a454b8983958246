"""FlashAttention forward: one program takes a tile of queries past all the keys that it sees.

Source: Dao 2023 (FlashAttention-2), algorithm 1 and section 3.2 (one program per tile of queries, unlike
FlashAttention 1); Shah et al. 2024 (FlashAttention-3), section 3.1 for loads by TMA. Scores are kept in units
of log 2, since the special-function units compute exp2: exp(x) = exp2(x · log₂e), folded into the scale.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# A kernel's parameters have no Python types; triton would take annotations for dtypes.

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels_ref import tiles
from kernels_ref.naive import check_shapes, softmax_scale
from kernels_ref.tiles import load_tile, store_tile
from kernels_ref.tuning import Config, pick

CONFIGS = (
    Config(rows=128, columns=128, warps=8, stages=2),
    Config(rows=128, columns=64, warps=8, stages=3),
    Config(rows=128, columns=64, warps=4, stages=3),
    Config(rows=128, columns=32, warps=4, stages=3),
    Config(rows=128, columns=64, warps=8, stages=2),
    Config(rows=64, columns=128, warps=4, stages=2),
    Config(rows=64, columns=64, warps=4, stages=3),
    Config(rows=64, columns=32, warps=4, stages=3),
    Config(rows=64, columns=32, warps=4, stages=1),
)
"""rows: queries of a tile; columns: keys of a tile. The first that fits is the one used where nothing is timed."""


@triton.jit
def flash_forward_kernel(
    q,
    k,
    v,
    out,
    lse,
    q_strides,
    k_strides,
    v_strides,
    out_strides,
    scale_log2,
    heads,
    group,
    queries,
    keys,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CAUSAL: tl.constexpr,
    EVEN: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """One tile of ROWS queries of one head. EVEN: COLUMNS divides the number of keys."""
    tile_count = tl.cdiv(queries, ROWS)
    tile = tl.program_id(0) % tile_count
    batch = tl.program_id(0) // tile_count // heads
    head = tl.program_id(0) // tile_count % heads
    if CAUSAL:
        # The last tile sees the most keys: the longest program first leaves the shortest for the last wave.
        tile = tile_count - 1 - tile
    start = tile * ROWS
    offset = keys - queries
    # Tiles before `full` are seen by every query of this tile, those from `last` on by none.
    last = keys
    full = keys // COLUMNS * COLUMNS
    if CAUSAL:
        last = tl.minimum(tl.maximum(start + ROWS + offset, 0), keys)
        full = tl.minimum(tl.maximum(start + offset + 1, 0), keys) // COLUMNS * COLUMNS

    query = load_tile(q, q_strides, batch, head, start, queries, D, ROWS, WIDTH, DESCRIPTORS)
    largest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, WIDTH], tl.float32)
    kv_head = head // group
    acc, total, largest = _absorb(
        acc, total, largest, query, k, v, k_strides, v_strides, scale_log2, batch, kv_head, start, offset,
        keys, 0, full, D, WIDTH, ROWS, COLUMNS, CAUSAL, DESCRIPTORS, PRECISION, MASKED=False,
    )  # fmt: skip
    if CAUSAL or not EVEN:
        acc, total, largest = _absorb(
            acc, total, largest, query, k, v, k_strides, v_strides, scale_log2, batch, kv_head, start, offset,
            keys, full, last, D, WIDTH, ROWS, COLUMNS, CAUSAL, DESCRIPTORS, PRECISION, MASKED=True,
        )  # fmt: skip

    # A row without keys has the sum 0 and the max −inf: 0 / 1 and −inf + log 1 are what it should get.
    total = tl.where(total == 0.0, 1.0, total)
    acc = acc / total[:, None]
    store_tile(out, out_strides, batch, head, start, queries, acc, D, ROWS, WIDTH)
    row = start + tl.arange(0, ROWS)
    origin = lse + (batch * heads + head).to(tl.int64) * queries
    tl.store(origin + row, (largest + tl.log2(total)) * 0.6931471805599453, mask=row < queries)


@triton.jit
def _absorb(
    acc,
    total,
    largest,
    query,
    k,
    v,
    k_strides,
    v_strides,
    scale_log2,
    batch,
    kv_head,
    start,
    offset,
    keys,
    first,
    last,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CAUSAL: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
    PRECISION: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Online softmax over the tiles of keys in first … last. Without MASKED every key there is seen."""
    for position in tl.range(first, last, COLUMNS):
        key = load_tile(
            k, k_strides, batch, kv_head, position, keys, D, COLUMNS, WIDTH, DESCRIPTORS, WHOLE=not MASKED
        )
        scores = tl.dot(query, key.T, input_precision=PRECISION)
        if MASKED:
            column = position + tl.arange(0, COLUMNS)[None, :]
            seen = column < keys
            if CAUSAL:
                row = start + tl.arange(0, ROWS)[:, None]
                seen = seen & (column <= row + offset)
            scores = tl.where(seen, scores * scale_log2, -float("inf"))
            grown = tl.maximum(largest, tl.max(scores, 1))
            # A row that has seen no key yet: −inf − (−inf) is NaN, −inf − 0 is −inf.
            subtracted = tl.where(grown == -float("inf"), 0.0, grown)
            weights = tl.exp2(scores - subtracted[:, None])
        else:
            # max(s)·c = max(s·c) as c ≥ 0; so scaling and subtracting are one multiply-add an element.
            grown = tl.maximum(largest, tl.max(scores, 1) * scale_log2)
            subtracted = grown
            weights = tl.exp2(scores * scale_log2 - subtracted[:, None])
        rescale = tl.exp2(largest - subtracted)
        total = total * rescale + tl.sum(weights, 1)
        value = load_tile(
            v, v_strides, batch, kv_head, position, keys, D, COLUMNS, WIDTH, DESCRIPTORS, WHOLE=not MASKED
        )
        acc = tl.dot(weights.to(value.dtype), value, acc * rescale[:, None], input_precision=PRECISION)
        largest = grown
    return acc, total, largest


def flash_attention_forward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    precision: str = "ieee",
    config: Config | None = None,
    descriptors: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention without the score matrix.

    Args:
        q: (..., H, T_q, D) of any strides, D ≤ 256, fp16, bf16 or fp32.
        k, v: (..., H_kv, T_k, D); H_kv divides H.
        causal: query i sees keys j ≤ i + T_k − T_q.
        scale: on QKᵀ; 1/√D where None.
        precision: of fp32 products: "ieee" (fp32 lanes), "tf32" or "tf32x3" (tensor cores).
        config: tile sizes; None: the fastest on this GPU, timed once a shape, or the first that fits elsewhere.
        descriptors: load by TMA; None: on Hopper and later, where the strides allow it.

    Returns:
        out (..., H, T_q, D) in q's dtype, contiguous, and lse (..., H, T_q) in fp32: natural log, scale
        included. A query without keys: 0 and −inf.

    Raises:
        ValueError: shapes or devices do not fit, D > 256, or a negative scale.
        TypeError: dtypes differ or are not among the three.
    """
    check_call(q, k, v, scale)
    queries, keys, values = (tiles.four_dimensional(each) for each in (q, k, v))
    batch, heads, length, width = queries.shape
    out = torch.empty(queries.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(queries.shape[:-1], dtype=torch.float32, device=q.device)
    by_descriptor = use_descriptors(descriptors, queries, keys, values)

    def launch(chosen: Config) -> None:
        sources = (
            (
                tiles.describe(queries, chosen.rows),
                *(tiles.describe(x, chosen.columns) for x in (keys, values)),
            )
            if by_descriptor
            else (queries, keys, values)
        )
        flash_forward_kernel[(triton.cdiv(length, chosen.rows) * heads * batch,)](
            *sources,
            out,
            lse,
            queries.stride(),
            keys.stride(),
            values.stride(),
            out.stride(),
            softmax_scale(q, scale) * math.log2(math.e),
            heads,
            heads // keys.shape[1],
            length,
            keys.shape[2],
            D=width,
            WIDTH=tiles.padded_width(width),
            ROWS=chosen.rows,
            COLUMNS=chosen.columns,
            CAUSAL=causal,
            EVEN=keys.shape[2] % chosen.columns == 0,
            DESCRIPTORS=by_descriptor,
            PRECISION=precision,
            num_warps=chosen.warps,
            num_stages=chosen.stages,
        )

    if out.numel():
        key = (tuple(queries.shape), tuple(keys.shape), causal, precision)
        pick("flash_forward", CONFIGS, q, key, launch, width=width, descriptors=by_descriptor, config=config)
    return out.reshape(q.shape), lse.reshape(q.shape[:-1])


def check_call(q: Tensor, k: Tensor, v: Tensor, scale: float | None) -> None:
    """Refuse what the FlashAttention kernels do not take.

    Raises:
        ValueError: shapes or devices do not fit, D > 256, or a negative scale.
        TypeError: dtypes differ or are not fp16, bf16, fp32.
    """
    check_shapes(q, k, v)
    tiles.check_kernel_inputs(q, k, v)
    if q.shape[-1] > 256:
        raise ValueError(f"D = {q.shape[-1]}: these kernels hold whole rows, up to D = 256")
    if scale is not None and not scale >= 0:
        raise ValueError(f"scale = {scale}: give one that is not negative, or negate q")


def use_descriptors(asked: bool | None, *tensors: Tensor) -> bool:
    """Whether to load by TMA: as asked, or where both the GPU and the tensors' strides allow it."""
    if asked is None:
        asked = tiles.has_descriptors()
    return asked and all(tiles.can_describe(each) for each in tensors)
