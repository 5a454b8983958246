"""Hidden checks of parameters.py: fresh random shapes and models against the reference solution.

Every switch is on in half of the models of a check, whatever the seed: no mistake passes by luck.
"""

import pytest

from specs import Experts, GroupedAttention, LatentAttention, Mlp, Model

MODELS = 12


def halves(rng):
    """True for half of the models, in random order."""
    switches = [index < MODELS // 2 for index in range(MODELS)]
    rng.shuffle(switches)
    return switches


def grouped(rng, index, switches):
    """MHA, GQA and MQA in turn; heads·head_dim is no width that `hidden` can have."""
    kv_heads = rng.choice((2, 3, 5))
    return GroupedAttention(
        heads=kv_heads * (1, rng.randint(2, 6), 7)[index % 3],
        kv_heads=(kv_heads, kv_heads, 1)[index % 3],
        head_dim=rng.choice((24, 40, 56)),
        qkv_bias=switches["qkv_bias"][index],
        output_bias=switches["output_bias"][index],
        qk_norm=switches["qk_norm"][index],
        sinks=switches["sinks"][index],
    )


def frame(rng, index, switches):
    """The fields of a model around its attention and feed-forward block."""
    layernorm = switches["layernorm"][index]
    return {
        "name": f"random-{index}",
        "hidden": 64 * rng.randint(3, 40) + 1,
        "layers": rng.randint(5, 40),
        "vocab": rng.randint(1_000, 200_000),
        "tied_embeddings": switches["tied_embeddings"][index],
        "learned_positions": rng.randint(100, 4_000) * switches["learned_positions"][index],
        "norm": "layernorm" if layernorm else "rmsnorm",
        "norm_bias": layernorm,
        "norms_per_layer": (2, 4, 1, 3)[index % 4],
        "final_norm": switches["final_norm"][index],
        "head_bias": switches["head_bias"][index],
    }


def switches_of(rng):
    """One shuffled list for each switch."""
    names = (
        "qkv_bias output_bias qk_norm sinks layernorm tied_embeddings learned_positions final_norm head_bias "
        "gated mlp_bias expert_bias shared router_bias router_correction_bias dense_layers compressed_queries"
    )
    return {name: halves(rng) for name in names.split()}


def dense_mlp(rng, index, switches):
    """A feed-forward block of no usual width."""
    return Mlp(
        intermediate=rng.randint(300, 9_000),
        gated=switches["gated"][index],
        bias=switches["mlp_bias"][index],
    )


def experts(rng, index, switches, layers):
    """Routed experts; shared ones and dense first layers in half of the models."""
    shared = rng.randint(1, 3) * switches["shared"][index]
    return Experts(
        count=rng.randint(8, 64),
        active=rng.randint(2, 7),
        intermediate=rng.randint(100, 2_000),
        gated=switches["gated"][index],
        bias=switches["expert_bias"][index],
        shared=shared,
        shared_intermediate=rng.randint(100, 2_000) if shared else 0,
        router_bias=switches["router_bias"][index],
        router_correction_bias=switches["router_correction_bias"][index],
        dense_layers=rng.randint(1, layers - 2) if switches["dense_layers"][index] else 0,
    )


def with_experts(rng, index, switches, attention):
    """A mixture of experts around `attention`."""
    fields = frame(rng, index, switches)
    chosen = experts(rng, index, switches, fields["layers"])
    mlp = dense_mlp(rng, index, switches) if chosen.dense_layers else None
    return Model(attention=attention, experts=chosen, mlp=mlp, **fields)


@pytest.mark.exercise("memory.shape_from_parameter_count", weight=4)
def test_any_parameter_count(submission, expect, oracle, rng):
    """Other parameter counts give the right shape too."""
    for above in (0.2, -0.2, 0.4, -0.4, 0.3, -0.3):
        # Clear of the half-way points, where two answers are right; from a few millions to some trillions.
        layers = rng.randint(3, 300) + above
        n = round(12 * 128**2 * layers**3)
        expect.terms(
            submission.memory.shape_from_parameter_count(n), oracle.memory.shape_from_parameter_count(n)
        )


@pytest.mark.exercise("memory.shape_from_parameter_count", weight=1)
def test_counts_at_either_end(submission, expect, oracle, rng):
    """Very small and very large counts give a shape too."""
    for n in (
        1,
        rng.randint(2, 20_000),
        rng.randint(10, 20) * 10**12,
        12 * 128**2 * rng.randint(500, 900) ** 3,
    ):
        expect.terms(
            submission.memory.shape_from_parameter_count(n), oracle.memory.shape_from_parameter_count(n)
        )


@pytest.mark.exercise("memory.parameter_count", weight=6)
def test_any_dense_model(submission, expect, oracle, rng):
    """Dense models that nobody has published come out right too, part by part."""
    switches = switches_of(rng)
    for index in range(MODELS):
        model = Model(
            attention=grouped(rng, index, switches),
            mlp=dense_mlp(rng, index, switches),
            **frame(rng, index, switches),
        )
        expect.terms(submission.memory.parameter_count(model), oracle.memory.parameter_count(model))


@pytest.mark.exercise("memory.parameter_count", weight=2)
def test_odd_but_legal_dense_models(submission, expect, oracle, rng):
    """A single layer, a single head, no norms at all, a tied head with a bias: all legal."""
    plain = Model(
        name="odd",
        hidden=rng.randint(20, 90),
        layers=1,
        vocab=rng.randint(50, 500),
        tied_embeddings=True,
        learned_positions=rng.randint(5, 50),
        norm="layernorm",
        norm_bias=True,
        norms_per_layer=0,
        head_bias=True,
        attention=GroupedAttention(heads=1, kv_heads=1, head_dim=rng.randint(100, 200), sinks=True),
        mlp=Mlp(intermediate=rng.randint(1, 9), gated=True, bias=True),
    )
    without_norms = plain.model_copy(update={"final_norm": False, "layers": rng.randint(90, 120)})
    one_key_head = plain.model_copy(
        update={"attention": GroupedAttention(heads=64, kv_heads=1, head_dim=1, qk_norm=True)}
    )
    windowed = plain.model_copy(
        update={"attention": GroupedAttention(heads=2, kv_heads=2, head_dim=8, window=5, windowed_layers=1)}
    )
    for model in (plain, without_norms, one_key_head, windowed):
        expect.terms(submission.memory.parameter_count(model), oracle.memory.parameter_count(model))


@pytest.mark.exercise("memory.expert_parameter_counts", weight=4)
def test_any_mixture_of_experts(submission, expect, oracle, rng):
    """Mixtures of experts that nobody has published come out right too."""
    switches = switches_of(rng)
    for index in range(MODELS):
        model = with_experts(rng, index, switches, grouped(rng, index, switches))
        expect.terms(
            submission.memory.expert_parameter_counts(model), oracle.memory.expert_parameter_counts(model)
        )


@pytest.mark.exercise("memory.expert_parameter_counts", weight=1)
def test_odd_but_legal_mixtures(submission, expect, oracle, rng):
    """A single expert, all experts visited, experts in the last layer only: all legal."""
    layers = rng.randint(3, 9)
    base = Model(
        name="odd",
        hidden=rng.randint(20, 90),
        layers=layers,
        vocab=rng.randint(50, 500),
        tied_embeddings=False,
        norm="rmsnorm",
        attention=GroupedAttention(heads=4, kv_heads=1, head_dim=rng.randint(3, 30)),
        experts=Experts(count=1, active=1, intermediate=rng.randint(10, 99)),
    )
    all_visited = base.model_copy(
        update={"experts": Experts(count=9, active=9, intermediate=rng.randint(10, 99), gated=False)}
    )
    last_layer = base.model_copy(
        update={
            "mlp": Mlp(intermediate=rng.randint(10, 99), gated=True),
            "experts": Experts(
                count=12,
                active=1,
                intermediate=rng.randint(10, 99),
                bias=True,
                shared=4,
                shared_intermediate=rng.randint(10, 99),
                dense_layers=layers - 1,
            ),
        }
    )
    for model in (base, all_visited, last_layer):
        expect.terms(
            submission.memory.expert_parameter_counts(model), oracle.memory.expert_parameter_counts(model)
        )


@pytest.mark.exercise("memory.latent_parameter_counts", weight=4)
def test_any_model_under_latent_attention(submission, expect, oracle, rng):
    """Latent attention of any ranks and head widths, queries compressed or not, comes out right too."""
    switches = switches_of(rng)
    for index in range(MODELS):
        attention = LatentAttention(
            heads=rng.randint(2, 48),
            q_lora_rank=rng.randint(100, 900) if switches["compressed_queries"][index] else None,
            kv_lora_rank=rng.randint(100, 900),
            qk_nope_head_dim=rng.randint(30, 60),
            qk_rope_head_dim=rng.randint(10, 25),
            v_head_dim=rng.randint(90, 140),
        )
        model = with_experts(rng, index, switches, attention)
        expect.terms(
            submission.memory.expert_parameter_counts(model), oracle.memory.expert_parameter_counts(model)
        )
