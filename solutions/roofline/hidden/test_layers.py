"""Hidden checks of layers.py: random models, steps and cards against the reference solution."""

import pytest

from specs import Cost, ElementFlops, Gpu, GroupedAttention, Mlp, Model, OpCost

DTYPES = ("bf16", "fp32", "fp8", "fp16")


def random_model(rng, **fields):
    """A dense model with grouped attention whose widths are all different."""
    kv_heads = rng.randint(2, 6)
    attention = GroupedAttention(
        heads=kv_heads * rng.randint(2, 5), kv_heads=kv_heads, head_dim=rng.randint(11, 40)
    )
    norm = rng.choice(("layernorm", "rmsnorm"))
    parts = {
        "name": "random",
        "hidden": rng.randint(500, 700),
        "layers": rng.randint(5, 40),
        "vocab": rng.randint(2000, 5000),
        "tied_embeddings": rng.random() < 0.5,
        "learned_positions": rng.choice((0, 512)),
        "norm": norm,
        "norm_bias": norm == "layernorm" and rng.random() < 0.5,
        "attention": attention,
        "mlp": Mlp(intermediate=rng.randint(900, 1900), gated=rng.random() < 0.5),
    }
    return Model(**(parts | fields))


def random_table(rng):
    """FLOPs per element that no shipped table has."""
    kinds = ("softmax", "layernorm", "rmsnorm", "gelu", "silu", "rope", "adamw")
    numbers = rng.sample(range(3, 30), len(kinds))
    return ElementFlops(name="random", source="made up", **dict(zip(kinds, numbers, strict=True)))


def random_gpu(rng):
    """A card whose ridge is between 20 and 1000 FLOP/byte."""
    return Gpu(
        name="random",
        dense_tflops={
            "bf16": rng.uniform(50, 900),
            "fp8": rng.uniform(1000, 2000),
            "fp32": rng.uniform(20, 40),
        },
        memory_label_gb=80,
        memory_bytes=80_000_000_000,
        memory_bytes_status="estimated",
        hbm_gb_per_s=rng.uniform(900, 2500),
    )


def random_ops(rng):
    """Ops on both sides of any such ridge, of every kind."""
    ops = []
    for kind in ("matmul", "attention", "memory", "matmul", "attention", "memory"):
        moved = rng.randint(1_000_000, 900_000_000)
        intensity = rng.uniform(0.1, 4) if kind == "memory" else rng.choice((rng.uniform(1, 15), 3000))
        written = moved // rng.randint(2, 5)
        cost = Cost(flops=int(moved * intensity), bytes_read=moved - written, bytes_written=written)
        ops.append(OpCost(name=f"op {len(ops)}", kind=kind, count=rng.randint(2, 80), cost=cost))
    return ops


def check_ops(got, right, expect, case):
    """Compare two lists of OpCost by name; says nothing of the random model but which op is wrong."""
    is_list = isinstance(got, list | tuple) and all(isinstance(each, OpCost) for each in got)
    expect.that(is_list, f"{case}: a list of OpCost is needed")
    ops = {each.name: each for each in got}
    expect.that(len(ops) == len(got), f"{case}: an op is there twice; count says how often it runs")
    missing = [each.name for each in right if each.name not in ops]
    expect.that(not missing, f"{case}: these ops are missing: {', '.join(missing)}")
    expect.that(len(ops) == len(right), f"{case}: an op is there that is not in this step")
    for op in right:
        expect.equal(ops[op.name].kind, op.kind, case=f"{case}, kind of {op.name}")
        expect.number(ops[op.name].count, op.count, case=f"{case}, count of {op.name}")
        expect.terms(ops[op.name].cost, op.cost, case=f"{case}, {op.name}")


@pytest.mark.exercise("roofline.layer_costs", weight=4)
def test_any_training_step(submission, expect, oracle, rng):
    """Random models come out right forward and backward, in any format and with any table."""
    for phase in ("forward", "backward", "forward", "backward"):
        step = (random_model(rng), rng.randint(2, 9), rng.randint(30, 300), phase, rng.choice(DTYPES))
        table = random_table(rng)
        got = submission.roofline.layer_costs(*step, table)
        check_ops(got, oracle.roofline.layer_costs(*step, table), expect, phase)


@pytest.mark.exercise("roofline.layer_costs", weight=4)
def test_any_serving_step(submission, expect, oracle, rng):
    """Random models come out right in prefill and decode, in any format and with any table."""
    for phase in ("prefill", "decode", "prefill", "decode"):
        step = (random_model(rng), rng.randint(2, 9), rng.randint(30, 300), phase, rng.choice(DTYPES))
        table = random_table(rng)
        got = submission.roofline.layer_costs(*step, table)
        check_ops(got, oracle.roofline.layer_costs(*step, table), expect, phase)


@pytest.mark.exercise("roofline.layer_costs", weight=3)
def test_odd_models_are_models_like_any_other(submission, expect, oracle, rng):
    """One layer, one key-value head, no norm in a layer or at the end, four of them, a gate or not, one token."""
    one_head = GroupedAttention(heads=6, kv_heads=1, head_dim=rng.randint(11, 40))
    odd = {
        "one layer": {"layers": 1},
        "one key-value head": {"attention": one_head},
        "no final norm": {"final_norm": False},
        "no norm in a layer": {"norms_per_layer": 0},
        "four norms in a layer": {"norms_per_layer": 4},
        "a gate and learned positions": {"learned_positions": 64, "mlp": Mlp(intermediate=777, gated=True)},
        "no gate and rotary positions": {"learned_positions": 0, "mlp": Mlp(intermediate=777, gated=False)},
    }
    for number, (case, fields) in enumerate(odd.items()):
        batch, sequence = rng.choice(((1, 40), (5, 1), (3, 77)))
        phase = ("forward", "decode", "backward", "prefill")[number % 4]
        step = (random_model(rng, **fields), batch, sequence, phase, "bf16")
        table = random_table(rng)
        got = submission.roofline.layer_costs(*step, table)
        check_ops(got, oracle.roofline.layer_costs(*step, table), expect, f"{case}, {phase}")


@pytest.mark.exercise("roofline.layer_costs", weight=3)
def test_the_time_of_any_step(submission, expect, oracle, rng):
    """Random ops on random cards take the time that the roofline gives them, in two formats."""
    for dtype in ("bf16", "fp8", "bf16", "fp8", "bf16", "fp8"):
        ops, card = random_ops(rng), random_gpu(rng)
        got = submission.roofline.step_time(ops, card, dtype)
        expect.terms(got, oracle.roofline.step_time(ops, card, dtype), case=f"random ops in {dtype}")


@pytest.mark.exercise("roofline.predicted_mfu", weight=5)
def test_the_mfu_of_any_step(submission, expect, oracle, rng):
    """Random ops on random cards have the MFU that the roofline gives them, in two formats."""
    for dtype in ("bf16", "fp8", "bf16", "fp8", "bf16", "fp8"):
        ops, card = random_ops(rng), random_gpu(rng)
        got = submission.roofline.predicted_mfu(ops, card, dtype)
        expect.number(got, oracle.roofline.predicted_mfu(ops, card, dtype), case=f"random ops in {dtype}")
