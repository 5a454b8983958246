"""FLOPs and bytes of single operations. A is (m, k), B is (k, n), everything in elements first, bytes last."""

from specs import DTYPE_BYTES, Cost, DType, ElementFlops, Recipe


def nbytes(n_elements: float, fmt: DType | None) -> float:
    if fmt is None:
        return 0
    return n_elements * DTYPE_BYTES[fmt]


def matmul_cost(
    m: int,
    n: int,
    k: int,
    dtype: DType,
    batch: int = 1,
    weight_dtype: DType | None = None,
    output_dtype: DType | None = None,
) -> Cost:
    if weight_dtype is None:
        weight_dtype = dtype
    a = nbytes(batch * m * k, dtype)
    b = nbytes(batch * k * n, weight_dtype)
    # C stays in registers while it is summed up
    return Cost(flops=2 * m * n * k * batch, bytes_read=a + b, bytes_written=0)


def elementwise_cost(elements: int, inputs: int, flops_per_element: float, dtype: DType) -> Cost:
    one_tensor = nbytes(elements, dtype)
    return Cost(
        flops=flops_per_element * elements, bytes_read=one_tensor * inputs, bytes_written=one_tensor
    )


def softmax_cost(rows: int, columns: int, dtype: DType, table: ElementFlops) -> Cost:
    # one tensor in, one out
    return elementwise_cost(rows * columns, 1, table.softmax, dtype)


def norm_cost(kind: str, rows: int, width: int, dtype: DType, table: ElementFlops) -> Cost:
    x = nbytes(rows * width, dtype)
    if kind == "rmsnorm":
        return Cost(
            flops=table.rmsnorm * rows * width, bytes_read=x + nbytes(width, dtype), bytes_written=x
        )
    return Cost(
        flops=table.layernorm * rows * width, bytes_read=x + nbytes(2 * width, dtype), bytes_written=x
    )


def embedding_cost(tokens: int, hidden: int, dtype: DType, index_bytes: int = 8) -> Cost:
    copied = nbytes(tokens * hidden, dtype)
    return Cost(flops=0, bytes_read=copied + index_bytes * tokens, bytes_written=copied)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    moments = 0.0
    for fmt in recipe.moments:
        moments += nbytes(1, fmt)
    # the buffer wins over the gradient, the master copy over the weights
    if recipe.gradient_accumulation is not None:
        grad = nbytes(1, recipe.gradient_accumulation)
    else:
        grad = nbytes(1, recipe.gradients)
    if recipe.master is not None:
        source = nbytes(1, recipe.master)
    else:
        source = nbytes(1, recipe.weights)
    out = nbytes(1, recipe.weights) + moments
    return Cost(
        flops=table.adamw * parameters,
        bytes_read=(grad + source + moments) * parameters,
        bytes_written=out * parameters,
    )


def seen_pairs(queries: int, keys: int, causal: bool) -> int:
    if not causal:
        return queries * keys
    # all but the upper right triangle, which has queries - 1 rows
    hidden = queries * (queries - 1) // 2
    return queries * keys - hidden


def attention_cost(
    batch: int,
    heads: int,
    kv_heads: int,
    queries: int,
    keys: int,
    head_dim: int,
    dtype: DType,
    algorithm: str,
    table: ElementFlops,
    causal: bool = False,
) -> Cost:
    all_heads = batch * heads
    q = nbytes(all_heads * queries * head_dim, dtype)
    k = nbytes(batch * kv_heads * keys * head_dim, dtype)
    per_pair = 4 * head_dim + table.softmax
    if algorithm == "naive":
        s = nbytes(all_heads * queries * keys, dtype)
        reads = (q + k) + s + (s + k)  # QK^T, softmax, PV
        writes = s + s + q
        return Cost(flops=all_heads * queries * keys * per_pair, bytes_read=reads, bytes_written=writes)
    lse = nbytes(all_heads * queries, "fp32")
    return Cost(
        flops=all_heads * seen_pairs(queries, keys, causal) * per_pair,
        bytes_read=q + k + k,
        bytes_written=q + lse,
    )


def decode_cost(
    batch: int,
    heads: int,
    kv_heads: int,
    context: int,
    head_dim: int,
    dtype: DType,
    table: ElementFlops,
    cache_dtype: DType | None = None,
) -> Cost:
    q = nbytes(batch * heads * head_dim, dtype)
    cached = nbytes(batch * kv_heads * context * head_dim, cache_dtype or dtype)
    return Cost(
        flops=(4 * head_dim + table.softmax) * context * heads * batch,
        bytes_read=q + 2 * cached,
        bytes_written=q,
    )
