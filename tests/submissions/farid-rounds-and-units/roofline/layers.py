"""One step of a dense transformer, op by op."""

from collections.abc import Sequence

from specs import DTYPE_BYTES, Cost, DType, ElementFlops, Gpu, Model, OpCost, StepTime


def cost(flops, read, written):
    return Cost(flops=flops, bytes_read=read, bytes_written=written)


def check_dense(model):
    if model.experts is not None or model.mlp is None:
        raise ValueError(f"{model.name} has experts")
    if model.attention.kind != "grouped":
        raise ValueError(f"{model.name} has latent attention")
    if model.windowed_layers > 0:
        raise ValueError(f"{model.name} has a sliding window")


def linear(m, k, n, s, backward):
    x, w, y = m * k, k * n, m * n
    if backward:
        # dX = dY W^T, then dW = X^T dY
        return cost(4 * m * k * n, s * (y + w + x + y), s * (x + w))
    return cost(2 * m * k * n, s * (x + w), s * y)


def norm(model, T, s, table, backward):
    d = model.hidden
    per_element = {"layernorm": table.layernorm, "rmsnorm": table.rmsnorm}[model.norm]
    scale = 2 * d if model.norm_bias else d
    if backward:
        return cost(2 * per_element * T * d, s * (2 * T * d + scale), s * (T * d + scale))
    return cost(per_element * T * d, s * (T * d + scale), s * T * d)


def attention(model, batch, sequence, phase, s, table):
    a = model.attention
    T = batch if phase == "decode" else batch * sequence
    pairs = sequence if phase == "decode" else sequence * (sequence + 1) // 2
    flops = batch * a.heads * pairs * (4 * a.head_dim + table.softmax)
    q = s * T * a.heads * a.head_dim
    kv = s * 2 * batch * sequence * a.kv_heads * a.head_dim
    lse = 4 * T * a.heads
    if phase == "decode":
        return cost(flops, q + kv, q)
    if phase == "backward":
        # in: Q K V O dO lse, out: dQ dK dV
        return cost(2.5 * flops, q + kv + q + q + lse, q + kv)
    return cost(flops, q + kv, q + lse)


def activation(model, T, s, table, backward):
    n = T * model.mlp.intermediate
    if model.mlp.gated:
        flops, ins = (table.silu + 1) * n, 2
    else:
        flops, ins = table.gelu * n, 1
    if backward:
        return cost(2 * flops, s * n * (ins + 1), s * n * ins)
    return cost(flops, s * n * ins, s * n)


def embedding(T, d, s, backward):
    if backward:
        return cost(T * d, 2 * T * d * s + 8 * T, T * d * s)
    return cost(0, T * d * s + 8 * T, T * d * s)


def loss(M, V, s, table, backward):
    written = M * V * s if backward else 4 * M
    return cost(table.softmax * M * V, M * V * s + 8 * M, written)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: DType, table: ElementFlops
) -> list[OpCost]:
    check_dense(model)
    s = DTYPE_BYTES[dtype]
    backward = phase == "backward"
    T = batch if phase == "decode" else batch * sequence
    M = batch if phase in ("prefill", "decode") else T
    L, d, f, V = model.layers, model.hidden, model.mlp.intermediate, model.vocab
    q = model.attention.heads * model.attention.head_dim
    kv = model.attention.kv_heads * model.attention.head_dim
    ops = []

    def add(name, kind, count, c):
        ops.append(OpCost(name=name, kind=kind, count=count, cost=c))

    add("embedding", "memory", 1, embedding(T, d, s, backward))
    if model.norms_per_layer > 0:
        add("norms", "memory", L * model.norms_per_layer, norm(model, T, s, table, backward))
    add("qkv", "matmul", L, linear(T, d, q + 2 * kv, s, backward))
    if model.learned_positions == 0:
        rotated = T * (q + kv)
        add("rope", "memory", L, cost(table.rope * rotated, rotated * s, rotated * s))
    add("attention", "attention", L, attention(model, batch, sequence, phase, s, table))
    add("attention_output", "matmul", L, linear(T, q, d, s, backward))
    add("residuals", "memory", 2 * L, cost(T * d, 2 * T * d * s, T * d * s))
    add("mlp_up", "matmul", L, linear(T, d, f, s, backward))
    if model.mlp.gated:
        add("mlp_gate", "matmul", L, linear(T, d, f, s, backward))
    add("activation", "memory", L, activation(model, T, s, table, backward))
    add("mlp_down", "matmul", L, linear(T, f, d, s, backward))
    if model.final_norm:
        add("final_norm", "memory", 1, norm(model, T, s, table, backward))
    add("head", "matmul", 1, linear(M, d, V, s, backward))
    if phase in ("forward", "backward"):
        add("loss", "memory", 1, loss(M, V, s, table, backward))
    return ops


def step_time(ops: Sequence[OpCost], gpu: Gpu, dtype: DType) -> StepTime:
    t = {"matmul": 0, "attention": 0, "memory": 0}
    for op in ops:
        math_s = op.cost.flops / gpu.peak_flops(dtype)
        traffic_s = op.cost.bytes_moved / gpu.hbm_bytes_per_s
        t[op.kind] += op.count * max(math_s, traffic_s)
    return StepTime(matmul=t["matmul"], attention=t["attention"], memory=t["memory"])


def predicted_mfu(ops: Sequence[OpCost], gpu: Gpu, dtype: DType) -> float:
    model_flops = 0
    for op in ops:
        if op.kind in ("matmul", "attention"):
            model_flops += op.count * op.cost.flops
    t = step_time(ops, gpu, dtype)
    return model_flops / gpu.peak_flops(dtype) / (t.matmul + t.attention + t.memory)
