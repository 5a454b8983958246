"""The kernels of FlashAttention's backward: P is recomputed from lse, tile by tile; dQ, dK and dV without atomics.

Source: Dao 2023 (FlashAttention-2), algorithm 2. There one pass makes all three gradients and adds dQ with
atomics: 5 products. Here one kernel makes dK and dV, with a program for each tile of keys, and another dQ, with
a program for each tile of queries: 7 products, as S and dP are made twice, but the same bits in every run and
no fp32 copy of dQ. A key tile's program also adds up the query heads that share its K/V head.

What is beyond the tensors needs little masking: a query row that does not exist, or that sees no key, is given
lse = +inf, and P = exp(S − lse) is 0 there.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# A kernel's parameters have no Python types; triton would take annotations for dtypes.

import triton
import triton.language as tl

from kernels_ref.tiles import load_tile, store_tile


@triton.jit
def flash_delta_kernel(
    out,
    grad_out,
    delta,
    out_strides,
    grad_strides,
    heads,
    queries,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
):
    """delta = rowsum(O ∘ dO), fp32 (B, H, T_q): what softmax's backward subtracts from dP in each row."""
    tile_count = tl.cdiv(queries, ROWS)
    start = tl.program_id(0) % tile_count * ROWS
    batch = tl.program_id(0) // tile_count // heads
    head = tl.program_id(0) // tile_count % heads
    o = load_tile(out, out_strides, batch, head, start, queries, D, ROWS, WIDTH, False).to(tl.float32)
    grad = load_tile(grad_out, grad_strides, batch, head, start, queries, D, ROWS, WIDTH, False).to(
        tl.float32
    )
    row = start + tl.arange(0, ROWS)
    origin = delta + (batch * heads + head).to(tl.int64) * queries
    tl.store(origin + row, tl.sum(o * grad, 1), mask=row < queries)


@triton.jit
def _load_row_statistics(lse, delta, start, queries, ROWS: tl.constexpr):
    """lse in units of log 2, +inf for rows that see no key or do not exist, and delta."""
    row = start + tl.arange(0, ROWS)
    log_sum = tl.load(lse + row, mask=row < queries, other=float("inf")) * 1.4426950408889634
    log_sum = tl.where(log_sum == -float("inf"), float("inf"), log_sum)
    return log_sum, tl.load(delta + row, mask=row < queries, other=0.0)


@triton.jit
def flash_dkdv_kernel(
    q,
    k,
    v,
    grad_out,
    grad_k,
    grad_v,
    lse,
    delta,
    q_strides,
    k_strides,
    v_strides,
    grad_strides,
    grad_k_strides,
    grad_v_strides,
    scale,
    heads,
    group,
    queries,
    keys,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CAUSAL: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """dK and dV of one tile of COLUMNS keys of one K/V head, from all query heads that share it."""
    tile_count = tl.cdiv(keys, COLUMNS)
    kv_heads = heads // group
    # Under a causal mask the first tile of keys is seen by the most queries, and it comes first: no reversal.
    start = tl.program_id(0) % tile_count * COLUMNS
    batch = tl.program_id(0) // tile_count // kv_heads
    kv_head = tl.program_id(0) // tile_count % kv_heads
    offset = keys - queries
    # Queries before `first` see no key of this tile, those from `full` on see all.
    first = 0
    full = 0
    if CAUSAL:
        first = tl.minimum(tl.maximum(start - offset, 0), queries) // ROWS * ROWS
        full = tl.cdiv(tl.maximum(start + COLUMNS - 1 - offset, 0), ROWS) * ROWS
        full = tl.minimum(tl.maximum(full, first), tl.cdiv(queries, ROWS) * ROWS)

    key = load_tile(k, k_strides, batch, kv_head, start, keys, D, COLUMNS, WIDTH, DESCRIPTORS)
    value = load_tile(v, v_strides, batch, kv_head, start, keys, D, COLUMNS, WIDTH, DESCRIPTORS)
    dk = tl.zeros([COLUMNS, WIDTH], tl.float32)
    dv = tl.zeros([COLUMNS, WIDTH], tl.float32)
    for member in range(group):
        head = kv_head * group + member
        row_origin = (batch * heads + head).to(tl.int64) * queries
        if CAUSAL:
            dk, dv = _gather_queries(
                dk, dv, key, value, q, grad_out, lse + row_origin, delta + row_origin, q_strides, grad_strides,
                scale, batch, head, start, offset, queries, first, full, D, WIDTH, ROWS, COLUMNS, DESCRIPTORS,
                PRECISION, MASKED=True,
            )  # fmt: skip
        dk, dv = _gather_queries(
            dk, dv, key, value, q, grad_out, lse + row_origin, delta + row_origin, q_strides, grad_strides,
            scale, batch, head, start, offset, queries, full, queries, D, WIDTH, ROWS, COLUMNS, DESCRIPTORS,
            PRECISION, MASKED=False,
        )  # fmt: skip
    store_tile(grad_k, grad_k_strides, batch, kv_head, start, keys, dk * scale, D, COLUMNS, WIDTH)
    store_tile(grad_v, grad_v_strides, batch, kv_head, start, keys, dv, D, COLUMNS, WIDTH)


@triton.jit
def _gather_queries(
    dk,
    dv,
    key,
    value,
    q,
    grad_out,
    lse,
    delta,
    q_strides,
    grad_strides,
    scale,
    batch,
    head,
    start,
    offset,
    queries,
    first,
    last,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
    PRECISION: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Add what the queries first … last give to dK and dV. S and P are held transposed, (keys, queries).

    Rows for keys beyond the tensor hold nonsense, which stays in its row and is not stored.
    """
    for position in tl.range(first, last, ROWS):
        query = load_tile(q, q_strides, batch, head, position, queries, D, ROWS, WIDTH, DESCRIPTORS)
        log_sum, row_delta = _load_row_statistics(lse, delta, position, queries, ROWS)
        scores = tl.dot(key, query.T, input_precision=PRECISION) * (scale * 1.4426950408889634)
        if MASKED:
            row = position + tl.arange(0, ROWS)[None, :]
            column = start + tl.arange(0, COLUMNS)[:, None]
            scores = tl.where(column <= row + offset, scores, -float("inf"))
        weights = tl.exp2(scores - log_sum[None, :])
        grad = load_tile(grad_out, grad_strides, batch, head, position, queries, D, ROWS, WIDTH, DESCRIPTORS)
        dv = tl.dot(weights.to(grad.dtype), grad, dv, input_precision=PRECISION)
        grad_weights = tl.dot(value, grad.T, input_precision=PRECISION)
        grad_scores = weights * (grad_weights - row_delta[None, :])
        dk = tl.dot(grad_scores.to(query.dtype), query, dk, input_precision=PRECISION)
    return dk, dv


@triton.jit
def flash_dq_kernel(
    q,
    k,
    v,
    grad_out,
    grad_q,
    lse,
    delta,
    q_strides,
    k_strides,
    v_strides,
    grad_strides,
    grad_q_strides,
    scale,
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
    """dQ of one tile of ROWS queries of one head. EVEN: COLUMNS divides the number of keys."""
    tile_count = tl.cdiv(queries, ROWS)
    tile = tl.program_id(0) % tile_count
    batch = tl.program_id(0) // tile_count // heads
    head = tl.program_id(0) // tile_count % heads
    if CAUSAL:
        tile = tile_count - 1 - tile
    start = tile * ROWS
    offset = keys - queries
    last = keys
    full = keys // COLUMNS * COLUMNS
    if CAUSAL:
        last = tl.minimum(tl.maximum(start + ROWS + offset, 0), keys)
        full = tl.minimum(tl.maximum(start + offset + 1, 0), keys) // COLUMNS * COLUMNS

    row_origin = (batch * heads + head).to(tl.int64) * queries
    log_sum, row_delta = _load_row_statistics(lse + row_origin, delta + row_origin, start, queries, ROWS)
    query = load_tile(q, q_strides, batch, head, start, queries, D, ROWS, WIDTH, DESCRIPTORS)
    grad = load_tile(grad_out, grad_strides, batch, head, start, queries, D, ROWS, WIDTH, DESCRIPTORS)
    dq = tl.zeros([ROWS, WIDTH], tl.float32)
    kv_head = head // group
    dq = _gather_keys(
        dq, query, grad, log_sum, row_delta, k, v, k_strides, v_strides, scale, batch, kv_head, start, offset,
        keys, 0, full, D, WIDTH, ROWS, COLUMNS, CAUSAL, DESCRIPTORS, PRECISION, MASKED=False,
    )  # fmt: skip
    if CAUSAL or not EVEN:
        dq = _gather_keys(
            dq, query, grad, log_sum, row_delta, k, v, k_strides, v_strides, scale, batch, kv_head, start,
            offset, keys, full, last, D, WIDTH, ROWS, COLUMNS, CAUSAL, DESCRIPTORS, PRECISION, MASKED=True,
        )  # fmt: skip
    store_tile(grad_q, grad_q_strides, batch, head, start, queries, dq * scale, D, ROWS, WIDTH)


@triton.jit
def _gather_keys(
    dq,
    query,
    grad,
    log_sum,
    row_delta,
    k,
    v,
    k_strides,
    v_strides,
    scale,
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
    """Add what the keys first … last give to dQ. Without MASKED every query sees every key there."""
    for position in tl.range(first, last, COLUMNS):
        key = load_tile(
            k, k_strides, batch, kv_head, position, keys, D, COLUMNS, WIDTH, DESCRIPTORS, WHOLE=not MASKED
        )
        value = load_tile(
            v, v_strides, batch, kv_head, position, keys, D, COLUMNS, WIDTH, DESCRIPTORS, WHOLE=not MASKED
        )
        scores = tl.dot(query, key.T, input_precision=PRECISION) * (scale * 1.4426950408889634)
        if MASKED:
            column = position + tl.arange(0, COLUMNS)[None, :]
            seen = column < keys
            if CAUSAL:
                row = start + tl.arange(0, ROWS)[:, None]
                seen = seen & (column <= row + offset)
            # Before the exp: a key that is not there has score 0, and exp2(0 − lse) may be inf, inf · 0 NaN.
            scores = tl.where(seen, scores, -float("inf"))
        weights = tl.exp2(scores - log_sum[:, None])
        grad_weights = tl.dot(grad, value.T, input_precision=PRECISION)
        grad_scores = weights * (grad_weights - row_delta[:, None])
        dq = tl.dot(grad_scores.to(key.dtype), key, dq, input_precision=PRECISION)
    return dq
