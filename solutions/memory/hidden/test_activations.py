"""Hidden checks of activations.py: random shapes and models against the reference solution."""

import pytest

from specs import DTYPE_BYTES, GroupedAttention, LatentAttention, Mlp, Model

WINDOWED = {None: "all layers", 0: "no layer"}


def random_shape(rng):
    """Keyword arguments of activation_bytes but for recomputation; no two numbers of a shape are equal."""
    heads = rng.randint(3, 40)
    return {
        "layers": rng.randint(41, 120),
        "hidden": heads * rng.choice((32, 48, 64, 80, 128)),
        "heads": heads,
        "sequence": rng.randint(20_000, 40_000),
        "batch": 2,
    }


def random_model(rng, attention, layers):
    """A dense model around an attention; what a cache does not depend on is random as well."""
    return Model(
        name="random",
        hidden=rng.randint(50, 4000),
        layers=layers,
        vocab=rng.randint(100, 1000),
        tied_embeddings=rng.random() < 0.5,
        norm="rmsnorm",
        attention=attention,
        mlp=Mlp(intermediate=rng.randint(100, 1000), gated=rng.random() < 0.5),
    )


def random_grouped(rng, **fields):
    """Grouped attention with random heads, each wide at random; `fields` are taken as they are."""
    kv_heads = rng.randint(1, 12)
    return GroupedAttention(
        **{
            "heads": kv_heads * rng.randint(2, 8),
            "kv_heads": kv_heads,
            "head_dim": rng.randint(20, 200),
            "qkv_bias": rng.random() < 0.5,
            "sinks": rng.random() < 0.5,
            **fields,
        }
    )


@pytest.mark.exercise("memory.activation_bytes", weight=3)
def test_any_shape_under_any_recomputation(submission, expect, oracle, rng):
    """Random shapes come out right without recomputation, under selective and under full recomputation."""
    for recomputation in ("none", "selective", "full", "none", "selective", "full"):
        shape = random_shape(rng)
        got = submission.memory.activation_bytes(**shape, recomputation=recomputation)
        right = oracle.memory.activation_bytes(**shape, recomputation=recomputation)
        expect.terms(got, right, case=recomputation)


@pytest.mark.exercise("memory.activation_bytes", weight=3)
def test_the_smallest_shapes(submission, expect, oracle, rng):
    """One layer, one head, one token or a batch of one are shapes like any other."""
    for name in ("layers", "heads", "sequence", "batch"):
        shape = random_shape(rng) | {"batch": rng.randint(3, 9), name: 1}
        for recomputation in ("none", "full"):
            got = submission.memory.activation_bytes(**shape, recomputation=recomputation)
            right = oracle.memory.activation_bytes(**shape, recomputation=recomputation)
            expect.terms(got, right, case=f"{name} = 1, {recomputation}")


@pytest.mark.exercise("memory.kv_cache_bytes", weight=3)
def test_any_grouped_attention_in_any_format(submission, expect, oracle, rng):
    """Random models in every number format come out right: one key-value head, or as many as heads, too."""
    for dtype in DTYPE_BYTES:
        sharing = rng.choice(({}, {"kv_heads": 1}, {"kv_heads": 6, "heads": 6}))
        model = random_model(rng, random_grouped(rng, **sharing), rng.randint(2, 60))
        sequence, batch = rng.randint(1, 5000), rng.randint(2, 9)
        got = submission.memory.kv_cache_bytes(model, sequence, batch, dtype)
        expect.terms(got, oracle.memory.kv_cache_bytes(model, sequence, batch, dtype), case=dtype)


@pytest.mark.exercise("memory.kv_cache_bytes", weight=3)
def test_any_window(submission, expect, oracle, rng):
    """Windows in every layer, in some or in none; longer, shorter and as long as the sequence."""
    for past_window in (-300, -1, 0, 1, 4000):
        window, layers = rng.randint(400, 2000), rng.randint(3, 60)
        for windowed_layers in (None, 0, rng.randint(1, layers - 1), layers):
            attention = random_grouped(rng, window=window, windowed_layers=windowed_layers)
            model = random_model(rng, attention, layers)
            batch, sequence = rng.randint(2, 9), window + past_window
            got = submission.memory.kv_cache_bytes(model, sequence, batch, "bf16")
            right = oracle.memory.kv_cache_bytes(model, sequence, batch, "bf16")
            length = "longer" if past_window > 0 else "shorter" if past_window else "as long"
            windowed = WINDOWED.get(windowed_layers, "some layers")
            expect.terms(got, right, case=f"{windowed} with a window, sequence {length}")


@pytest.mark.exercise("memory.latent_kv_cache_bytes", weight=3)
def test_any_latent_attention(submission, expect, oracle, rng):
    """Random models with latent attention come out right in every format, with a compressed query or not."""
    for dtype in DTYPE_BYTES:
        attention = LatentAttention(
            heads=rng.randint(2, 60),
            q_lora_rank=rng.choice((None, rng.randint(100, 900))),
            kv_lora_rank=rng.randint(100, 900),
            qk_nope_head_dim=rng.randint(20, 200),
            qk_rope_head_dim=rng.randint(20, 90),
            v_head_dim=rng.randint(20, 200),
        )
        model = random_model(rng, attention, rng.randint(2, 60))
        sequence, batch = rng.randint(2, 5000), rng.randint(2, 9)
        got = submission.memory.kv_cache_bytes(model, sequence, batch, dtype)
        expect.terms(got, oracle.memory.kv_cache_bytes(model, sequence, batch, dtype), case=dtype)
