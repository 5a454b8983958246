"""Visible checks of layers.py: a transformer's step op by op, its time, and the MFU that follows."""

import pytest

from specs import (
    Cost,
    Gpu,
    GroupedAttention,
    Mlp,
    Model,
    OpCost,
    StepTime,
    element_flops,
    gpu,
    model,
)

TABLE = element_flops()  # softmax 5, layernorm 8, rmsnorm 4, gelu 8, silu 4, rope 3

# Small enough for pencil and paper. d = 8, q = 12, kv = 6, f = 14, V = 11, L = 3.
LLAMA_LIKE = Model(
    name="llama-like",
    hidden=8,
    layers=3,
    vocab=11,
    tied_embeddings=False,
    norm="rmsnorm",
    attention=GroupedAttention(heads=4, kv_heads=2, head_dim=3),
    mlp=Mlp(intermediate=14, gated=True),
)
# d = q = kv = 6, f = 24, V = 13, L = 5; no rope, no gate, norms with a bias.
GPT_LIKE = Model(
    name="gpt-like",
    hidden=6,
    layers=5,
    vocab=13,
    tied_embeddings=True,
    learned_positions=9,
    norm="layernorm",
    norm_bias=True,
    attention=GroupedAttention(heads=3, kv_heads=3, head_dim=2),
    mlp=Mlp(intermediate=24, gated=False),
)


def ops_by_name(got, expect, case):
    """What layer_costs returned, by name; fails unless it is a list of OpCost without a name twice."""
    is_list = isinstance(got, list | tuple) and all(isinstance(each, OpCost) for each in got)
    expect.that(is_list, f"{case}: a list of OpCost is needed")
    by_name = {each.name: each for each in got}
    expect.that(len(by_name) == len(got), f"{case}: an op is there twice; count says how often it runs")
    return by_name


def check_ops(got, right, expect, case):
    """Compare with {name: (kind, count, flops, bytes read, bytes written)}."""
    ops = ops_by_name(got, expect, case)
    missing, unknown = sorted(set(right) - set(ops)), sorted(set(ops) - set(right))
    expect.that(not missing, f"{case}: these ops are missing: {', '.join(missing)}")
    expect.that(not unknown, f"{case}: these ops are not in this step: {', '.join(unknown)}")
    for name, (kind, count, flops, read, written) in right.items():
        expect.equal(ops[name].kind, kind, case=f"{case}, kind of {name}")
        expect.number(ops[name].count, count, case=f"{case}, count of {name}")
        terms = {"flops": flops, "bytes_read": read, "bytes_written": written}
        expect.terms(ops[name].cost, terms, case=f"{case}, {name}")


@pytest.mark.exercise("roofline.layer_costs", weight=3)
def test_a_forward_pass_by_pencil_and_paper(submission, expect):
    """Two models that are small enough for pencil and paper cost what each op says, op by op, forward."""
    got = submission.roofline.layer_costs(LLAMA_LIKE, 2, 5, "forward", "bf16", TABLE)
    right = {  # T = 10 tokens, 2 bytes; T·d = 80 elements are 160 bytes
        "embedding": ("memory", 1, 0, 160 + 10 * 8, 160),
        "norms": ("memory", 6, 4 * 80, 160 + 16, 160),
        "qkv": ("matmul", 3, 2 * 10 * 8 * 24, 160 + 384, 480),  # 12 + 2·6 = 24 outputs
        "rope": ("memory", 3, 3 * 180, 360, 360),  # 10·(12 + 6) = 180 elements
        # 15 pairs a head, 2·4 heads, 4·3 + 5 a pair; Q 240, K and V 120 each; O 240, 10·4 logsumexps 160
        "attention": ("attention", 3, 8 * 15 * 17, 480, 240 + 160),
        "attention_output": ("matmul", 3, 2 * 10 * 12 * 8, 240 + 192, 160),
        "residuals": ("memory", 6, 80, 320, 160),
        "mlp_up": ("matmul", 3, 2 * 10 * 8 * 14, 160 + 224, 280),
        "mlp_gate": ("matmul", 3, 2 * 10 * 8 * 14, 160 + 224, 280),
        "activation": ("memory", 3, 5 * 140, 2 * 280, 280),  # silu 4 and the product 1
        "mlp_down": ("matmul", 3, 2 * 10 * 14 * 8, 280 + 224, 160),
        "final_norm": ("memory", 1, 4 * 80, 160 + 16, 160),
        "head": ("matmul", 1, 2 * 10 * 8 * 11, 160 + 176, 220),
        "loss": ("memory", 1, 5 * 110, 220 + 10 * 8, 10 * 4),
    }
    check_ops(got, right, expect, "llama-like, 2 × 5 tokens, bf16")
    got = submission.roofline.layer_costs(GPT_LIKE, 3, 7, "forward", "fp32", TABLE)
    right = {  # T = 21 tokens, 4 bytes; T·d = 126 elements are 504 bytes
        "embedding": ("memory", 1, 0, 504 + 21 * 8, 504),
        "norms": ("memory", 10, 8 * 126, 504 + 48, 504),
        "qkv": ("matmul", 5, 2 * 21 * 6 * 18, 504 + 432, 1512),
        "attention": ("attention", 5, 9 * 28 * 13, 1512, 504 + 252),  # 28 pairs, 3·3 heads, 4·2 + 5
        "attention_output": ("matmul", 5, 2 * 21 * 6 * 6, 504 + 144, 504),
        "residuals": ("memory", 10, 126, 1008, 504),
        "mlp_up": ("matmul", 5, 2 * 21 * 6 * 24, 504 + 576, 2016),
        "activation": ("memory", 5, 8 * 504, 2016, 2016),
        "mlp_down": ("matmul", 5, 2 * 21 * 24 * 6, 2016 + 576, 504),
        "final_norm": ("memory", 1, 8 * 126, 504 + 48, 504),
        "head": ("matmul", 1, 2 * 21 * 6 * 13, 504 + 312, 1092),
        "loss": ("memory", 1, 5 * 273, 1092 + 21 * 8, 21 * 4),
    }
    check_ops(got, right, expect, "GPT-like, 3 × 7 tokens, fp32")


@pytest.mark.exercise("roofline.layer_costs", weight=3)
def test_a_backward_pass_by_pencil_and_paper(submission, expect):
    """Backward costs a linear layer two matmuls, and flash attention five where forward had two."""
    got = submission.roofline.layer_costs(LLAMA_LIKE, 2, 5, "backward", "bf16", TABLE)
    right = {
        "embedding": ("memory", 1, 80, 2 * 160 + 80, 160),
        "norms": ("memory", 6, 2 * 320, 2 * 160 + 16, 160 + 16),
        # dX reads dY 480 and W 384, writes X 160; dW reads X 160 and dY 480, writes W 384
        "qkv": ("matmul", 3, 2 * 3840, 2 * 480 + 384 + 160, 160 + 384),
        "rope": ("memory", 3, 540, 360, 360),
        # Q, O and dO 240 each, K and V 240, logsumexp 160; dQ 240, dK and dV 240
        "attention": ("attention", 3, 2.5 * 2040, 3 * 240 + 240 + 160, 480),
        "attention_output": ("matmul", 3, 2 * 1920, 2 * 160 + 192 + 240, 240 + 192),
        "residuals": ("memory", 6, 80, 320, 160),
        "mlp_up": ("matmul", 3, 2 * 2240, 2 * 280 + 224 + 160, 160 + 224),
        "mlp_gate": ("matmul", 3, 2 * 2240, 2 * 280 + 224 + 160, 160 + 224),
        "activation": ("memory", 3, 2 * 700, 3 * 280, 2 * 280),
        "mlp_down": ("matmul", 3, 2 * 2240, 2 * 160 + 224 + 280, 280 + 224),
        "final_norm": ("memory", 1, 2 * 320, 2 * 160 + 16, 160 + 16),
        "head": ("matmul", 1, 2 * 1760, 2 * 220 + 176 + 160, 160 + 176),
        "loss": ("memory", 1, 550, 220 + 80, 220),
    }
    check_ops(got, right, expect, "llama-like, 2 × 5 tokens, bf16")
    got = submission.roofline.layer_costs(GPT_LIKE, 3, 7, "backward", "fp32", TABLE)
    right = {
        "embedding": ("memory", 1, 126, 2 * 504 + 168, 504),
        "norms": ("memory", 10, 2 * 1008, 2 * 504 + 48, 504 + 48),
        "qkv": ("matmul", 5, 2 * 4536, 2 * 1512 + 432 + 504, 504 + 432),
        "attention": ("attention", 5, 2.5 * 3276, 3 * 504 + 1008 + 252, 1512),
        "attention_output": ("matmul", 5, 2 * 1512, 2 * 504 + 144 + 504, 504 + 144),
        "residuals": ("memory", 10, 126, 1008, 504),
        "mlp_up": ("matmul", 5, 2 * 6048, 2 * 2016 + 576 + 504, 504 + 576),
        "activation": ("memory", 5, 2 * 4032, 2 * 2016, 2016),
        "mlp_down": ("matmul", 5, 2 * 6048, 2 * 504 + 576 + 2016, 2016 + 576),
        "final_norm": ("memory", 1, 2 * 1008, 2 * 504 + 48, 504 + 48),
        "head": ("matmul", 1, 2 * 3276, 2 * 1092 + 312 + 504, 504 + 312),
        "loss": ("memory", 1, 1365, 1092 + 168, 1092),
    }
    check_ops(got, right, expect, "GPT-like, 3 × 7 tokens, fp32")


@pytest.mark.exercise("roofline.layer_costs", weight=3)
def test_prefill_and_decode_by_pencil_and_paper(submission, expect):
    """Prefill needs the head for the last tokens only; decode runs one token and reads the whole cache."""
    got = submission.roofline.layer_costs(LLAMA_LIKE, 2, 5, "prefill", "bf16", TABLE)
    right = {
        "embedding": ("memory", 1, 0, 240, 160),
        "norms": ("memory", 6, 320, 176, 160),
        "qkv": ("matmul", 3, 3840, 544, 480),
        "rope": ("memory", 3, 540, 360, 360),
        "attention": ("attention", 3, 2040, 480, 400),
        "attention_output": ("matmul", 3, 1920, 432, 160),
        "residuals": ("memory", 6, 80, 320, 160),
        "mlp_up": ("matmul", 3, 2240, 384, 280),
        "mlp_gate": ("matmul", 3, 2240, 384, 280),
        "activation": ("memory", 3, 700, 560, 280),
        "mlp_down": ("matmul", 3, 2240, 504, 160),
        "final_norm": ("memory", 1, 320, 176, 160),
        "head": ("matmul", 1, 2 * 2 * 8 * 11, 32 + 176, 44),  # 2 tokens, one a sequence
    }
    check_ops(got, right, expect, "llama-like, prefill of 2 × 5 tokens")
    got = submission.roofline.layer_costs(LLAMA_LIKE, 2, 5, "decode", "bf16", TABLE)
    right = {  # T = 2 tokens; T·d = 16 elements are 32 bytes
        "embedding": ("memory", 1, 0, 32 + 2 * 8, 32),
        "norms": ("memory", 6, 4 * 16, 32 + 16, 32),
        "qkv": ("matmul", 3, 2 * 2 * 8 * 24, 32 + 384, 96),
        "rope": ("memory", 3, 3 * 36, 72, 72),
        "attention": ("attention", 3, 8 * 5 * 17, 48 + 240, 48),  # 5 keys, Q 48, cache 240, O 48
        "attention_output": ("matmul", 3, 2 * 2 * 12 * 8, 48 + 192, 32),
        "residuals": ("memory", 6, 16, 64, 32),
        "mlp_up": ("matmul", 3, 2 * 2 * 8 * 14, 32 + 224, 56),
        "mlp_gate": ("matmul", 3, 2 * 2 * 8 * 14, 32 + 224, 56),
        "activation": ("memory", 3, 5 * 28, 2 * 56, 56),
        "mlp_down": ("matmul", 3, 2 * 2 * 14 * 8, 56 + 224, 32),
        "final_norm": ("memory", 1, 4 * 16, 32 + 16, 32),
        "head": ("matmul", 1, 2 * 2 * 8 * 11, 32 + 176, 44),
    }
    check_ops(got, right, expect, "llama-like, decode of 2 sequences with 5 tokens")


@pytest.mark.exercise("roofline.layer_costs", weight=2)
def test_matmul_flops_are_2nd_forward_and_4nd_backward(submission, expect):
    """The matmuls of Llama 2 7B and Llama 3 8B cost 2 FLOPs a weight and token forward, 4 backward."""
    # Weights in matmuls: all parameters but the embedding (V·d) and the norms (65·d).
    weights = {
        "llama2-7b": 6_738_415_616 - 32_000 * 4096 - 65 * 4096,
        "llama3-8b": 8_030_261_248 - 128_256 * 4096 - 65 * 4096,
    }
    for name, in_matmuls in weights.items():
        for phase, per_weight in (("forward", 2), ("backward", 4)):
            case = f"{name}, {phase}, 2 × 1024 tokens"
            got = submission.roofline.layer_costs(model(name), 2, 1024, phase, "bf16", TABLE)
            matmuls = [op for op in ops_by_name(got, expect, case).values() if op.kind == "matmul"]
            flops = sum(op.count * op.cost.flops for op in matmuls)
            expect.number(flops, per_weight * in_matmuls * 2048, unit="FLOPs", case=f"{case}, matmuls")


@pytest.mark.exercise("roofline.layer_costs", weight=2)
def test_only_big_matmuls_stand_above_the_ridge(submission, expect):
    """Only big matmuls are compute-bound: the linears, and the two inside flash attention when it is long."""
    linears = {"qkv", "attention_output", "mlp_up", "mlp_gate", "mlp_down", "head"}
    ridge = 989.4e12 / 3.35e12  # H100 SXM, bf16: 295 FLOP/byte
    cases = (
        ("forward", 2, 2048, linears | {"attention"}),  # flash forward has about sequence/4 FLOP/byte: 516
        ("backward", 2, 2048, linears | {"attention"}),
        ("forward", 4, 512, linears),  # about 129
        ("backward", 4, 512, linears),
        ("decode", 64, 4096, set()),  # 64 tokens: at most 64 FLOP/byte
    )
    for phase, batch, sequence, above in cases:
        case = f"llama2-7b on h100-sxm, {phase}, batch {batch}, sequence {sequence}"
        got = submission.roofline.layer_costs(model("llama2-7b"), batch, sequence, phase, "bf16", TABLE)
        ops = ops_by_name(got, expect, case)
        got_above = {name for name, op in ops.items() if op.cost.flops >= ridge * op.cost.bytes_moved}
        expect.equal(sorted(got_above), sorted(above), case=f"{case}: ops above the ridge")


# 1 TFLOP/s and 10 GB/s: the ridge is at 100 FLOP/byte. In fp8 twice the peak, so at 200.
PENCIL_GPU = Gpu(
    name="pencil",
    dense_tflops={"bf16": 1, "fp8": 2},
    memory_label_gb=80,
    memory_bytes=80_000_000_000,
    memory_bytes_status="read",
    hbm_gb_per_s=10,
)


def an_op(kind, count, flops, read, written, name="op"):
    """An op as layer_costs returns it."""
    return OpCost(
        name=name, kind=kind, count=count, cost=Cost(flops=flops, bytes_read=read, bytes_written=written)
    )


PENCIL_OPS = [
    an_op("matmul", 3, 6_000_000_000, 20_000_000, 10_000_000),  # 200 FLOP/byte: 6 ms or 3 ms
    an_op("matmul", 1, 1_000_000_000, 50_000_000, 30_000_000),  # 12.5 FLOP/byte: 1 ms or 8 ms
    an_op("attention", 2, 5_000_000_000, 30_000_000, 10_000_000),  # 125 FLOP/byte: 5 ms or 4 ms
    an_op("memory", 6, 10_000_000, 10_000_000, 10_000_000),  # 0.5 FLOP/byte: 2 ms
]


@pytest.mark.exercise("roofline.layer_costs", weight=2)
def test_each_op_of_a_step_has_its_own_bound(submission, expect):
    """A step's time is the sum over its ops, each as slow as its own slower bill, as often as it runs."""
    got = submission.roofline.step_time(PENCIL_OPS, PENCIL_GPU, "bf16")
    right = StepTime(matmul=3 * 6e-3 + 8e-3, attention=2 * 5e-3, memory=6 * 2e-3)
    expect.terms(got, right, unit="s", case="1 TFLOP/s, 10 GB/s")
    # fp8 doubles the peak and leaves the bytes: 3 ms on both sides, 8 ms, and attention waits for its 4 ms
    got = submission.roofline.step_time(PENCIL_OPS, PENCIL_GPU, "fp8")
    right = StepTime(matmul=3 * 3e-3 + 8e-3, attention=2 * 4e-3, memory=6 * 2e-3)
    expect.terms(got, right, unit="s", case="2 TFLOP/s, 10 GB/s")
    # a faster chip on slower memory, no attention: 1.5 ms or 6 ms, and 4 ms
    other = PENCIL_GPU.model_copy(update={"dense_tflops": {"bf16": 4}, "hbm_gb_per_s": 5})
    got = submission.roofline.step_time([PENCIL_OPS[0], PENCIL_OPS[3]], other, "bf16")
    right = StepTime(matmul=3 * 6e-3, attention=0, memory=6 * 4e-3)
    expect.terms(got, right, unit="s", case="4 TFLOP/s, 5 GB/s, no attention")


@pytest.mark.exercise("roofline.predicted_mfu", weight=2)
def test_mfu_by_pencil_and_paper(submission, expect):
    """MFU is the model's FLOPs over what the card could have done in the time of the whole step."""
    # useful: 3·6e9 + 1e9 + 2·5e9 = 29e9; time 26 + 10 + 12 = 48 ms at 1e12 FLOP/s
    got = submission.roofline.predicted_mfu(PENCIL_OPS, PENCIL_GPU, "bf16")
    expect.number(got, 29 / 48, case="1 TFLOP/s, 10 GB/s")
    # fp8: 17 + 8 + 12 = 37 ms at 2e12 FLOP/s
    got = submission.roofline.predicted_mfu(PENCIL_OPS, PENCIL_GPU, "fp8")
    expect.number(got, 29 / 74, case="2 TFLOP/s, 10 GB/s")


@pytest.mark.exercise("roofline.predicted_mfu", weight=2)
def test_big_matmuls_reach_the_peak_and_the_rest_pulls_down(submission, expect):
    """Compute-bound matmuls alone reach 1; memory-bound ops add time and no useful FLOPs."""
    matmul = an_op("matmul", 32, 6_000_000_000, 20_000_000, 10_000_000)
    norms = an_op("memory", 64, 400_000_000, 10_000_000, 10_000_000)
    expect.number(submission.roofline.predicted_mfu([matmul], PENCIL_GPU, "bf16"), 1.0, case="one matmul")
    # 32·6 ms of useful work, 64·2 ms more
    got = submission.roofline.predicted_mfu([matmul, norms], PENCIL_GPU, "bf16")
    expect.number(got, 192 / 320, case="matmuls and norms")
    # decode: a matmul with 1 FLOP/byte on a ridge of 100
    thin = an_op("matmul", 32, 100_000_000, 99_000_000, 1_000_000)
    got = submission.roofline.predicted_mfu([thin], PENCIL_GPU, "bf16")
    expect.number(got, 0.01, case="a matmul of 1 FLOP/byte")


@pytest.mark.exercise("roofline.predicted_mfu", weight=2)
def test_a_7b_layer_could_reach_89_percent_and_2_when_it_decodes(submission, expect):
    """A layer of Llama 2 7B could reach 89 % of an H100 on 4096 tokens, and 2 % when it decodes for 64."""
    mib = 2**20  # d = 4096, f = 11008; 989.4 TFLOP/s and 3.35 TB/s
    forward = [
        an_op("matmul", 1, 412_316_860_416, 128 * mib, 96 * mib, "qkv"),
        an_op("attention", 1, 138_815_012_864, 96 * mib, 32 * mib + 524_288, "attention"),
        an_op("matmul", 1, 137_438_953_472, 64 * mib, 32 * mib, "attention_output"),
        an_op("matmul", 2, 369_367_187_456, 118 * mib, 86 * mib, "mlp_up and mlp_gate"),
        an_op("matmul", 1, 369_367_187_456, 172 * mib, 32 * mib, "mlp_down"),
        an_op("memory", 2, 67_108_864, 32 * mib + 8192, 32 * mib, "norms"),
        an_op("memory", 1, 100_663_296, 64 * mib, 64 * mib, "rope"),
        an_op("memory", 2, 16_777_216, 64 * mib, 32 * mib, "residuals"),
        an_op("memory", 1, 225_443_840, 172 * mib, 86 * mib, "activation"),
    ]
    # Matmuls and attention are above the ridge: 1.797e12 FLOPs, 1.816 ms. The rest moves 740 MB, 0.221 ms.
    useful_s, rest_s = 1_796_672_389_120 / 989.4e12, 740_311_040 / 3.35e12
    got = submission.roofline.predicted_mfu(forward, gpu("h100-sxm"), "bf16")
    expect.number(got, useful_s / (useful_s + rest_s), case="a layer on 4096 tokens")
    decode = [  # 64 sequences with 4096 tokens in the cache
        an_op("matmul", 1, 6_442_450_944, 101_187_584, 1_572_864, "qkv"),
        an_op("attention", 1, 4_336_910_336, 4_295_491_584, 524_288, "attention"),
        an_op("matmul", 1, 2_147_483_648, 34_078_720, 524_288, "attention_output"),
        an_op("matmul", 2, 5_771_362_304, 90_701_824, 1_409_024, "mlp_up and mlp_gate"),
        an_op("matmul", 1, 5_771_362_304, 91_586_560, 524_288, "mlp_down"),
        an_op("memory", 2, 1_048_576, 532_480, 524_288, "norms"),
    ]
    # All wait for memory: 30.2e9 FLOPs, and 4.71 GB in 1.41 ms; 4,709,711,872 bytes and the norms' 2,113,536.
    moved_s = (4_709_711_872 + 2_113_536) / 3.35e12
    got = submission.roofline.predicted_mfu(decode, gpu("h100-sxm"), "bf16")
    expect.number(got, 30_240_931_840 / 989.4e12 / moved_s, case="a layer decoding for 64 sequences")
