"""Visible checks of parameters.py: sections 3 and 4."""

import pytest

from specs import GroupedAttention, Mlp, Model, ModelShape, ParameterCount, model

# ---- 3. shape_from_parameter_count


@pytest.mark.exercise("memory.shape_from_parameter_count", weight=2)
def test_seven_billion_is_33_layers_and_gpt3_has_its_own_shape(submission, expect):
    """7 billion parameters are 33 layers of width 4224, and 175 billion are GPT-3's 96 of 12288."""
    got = submission.memory.shape_from_parameter_count(7_000_000_000)
    # 7e9 / (12·128²) = 35,603.8 = 32.90³
    expect.terms(got, ModelShape(layers=33, hidden=128 * 33), case="7e9")
    got = submission.memory.shape_from_parameter_count(175_000_000_000)
    # 890,096 = 96.19³; GPT-3 has 96 layers and d = 12288 (Brown et al. 2020, Table 2.1)
    expect.terms(got, ModelShape(layers=96, hidden=12288), case="175e9")


@pytest.mark.exercise("memory.shape_from_parameter_count", weight=1)
def test_layers_are_rounded_to_the_nearest(submission, expect):
    """The layers are rounded up or down, whichever is nearer."""
    got = submission.memory.shape_from_parameter_count(1_300_000_000)
    expect.terms(got, ModelShape(layers=19, hidden=2432), case="1.3e9")  # 6,612 = 18.77³
    got = submission.memory.shape_from_parameter_count(13_000_000_000)
    expect.terms(got, ModelShape(layers=40, hidden=5120), case="13e9")  # 66,121 = 40.44³; Llama-2 13B's shape


@pytest.mark.exercise("memory.shape_from_parameter_count", weight=1)
def test_a_count_made_from_a_shape_gives_the_shape_back(submission, expect):
    """12·L·d² parameters of a model with d = 128·L give that L and d back."""
    for layers, hidden, count in ((4, 512, 12_582_912), (10, 1280, 196_608_000), (48, 6144, 21_743_271_936)):
        got = submission.memory.shape_from_parameter_count(count)
        expect.terms(got, ModelShape(layers=layers, hidden=hidden), case=f"12·{layers}·{hidden}²")


@pytest.mark.exercise("memory.shape_from_parameter_count", weight=1)
def test_even_the_smallest_model_has_a_layer(submission, expect):
    """A thousand parameters still make one layer; a million make two."""
    got = submission.memory.shape_from_parameter_count(1_000)
    expect.terms(got, ModelShape(layers=1, hidden=128), case="1000 parameters")  # 0.005 = 0.17³
    got = submission.memory.shape_from_parameter_count(1_000_000)
    expect.terms(got, ModelShape(layers=2, hidden=256), case="1e6 parameters")  # 5.09 = 1.72³


# ---- 4. parameter_count


@pytest.mark.exercise("memory.parameter_count", weight=2)
def test_gpt2_small_has_124_439_808_parameters_and_xl_1_557_611_200(submission, expect):
    """GPT-2 small and XL come out to the last parameter, part by part."""
    got = submission.memory.parameter_count(model("gpt2"))
    # d = 768: a layer is 4·(d² + d) of attention, 8·d² + 5·d of MLP and 2 norms of 2·d
    small = ParameterCount(
        token_embedding=50257 * 768,
        position_embedding=1024 * 768,
        attention=12 * (4 * 768 * 768 + 4 * 768),
        mlp=12 * (8 * 768 * 768 + 5 * 768),
        norms=12 * 4 * 768 + 2 * 768,
        output_head=0,
    )
    expect.terms(got, small, unit="parameters", case="GPT-2 small")
    got = submission.memory.parameter_count(model("gpt2-xl"))
    xl = ParameterCount(
        token_embedding=50257 * 1600,
        position_embedding=1024 * 1600,
        attention=48 * (4 * 1600 * 1600 + 4 * 1600),
        mlp=48 * (8 * 1600 * 1600 + 5 * 1600),
        norms=48 * 4 * 1600 + 2 * 1600,
        output_head=0,
    )
    expect.terms(got, xl, unit="parameters", case="GPT-2 XL")


@pytest.mark.exercise("memory.parameter_count", weight=2)
def test_llama_shares_keys_gates_its_mlp_and_has_a_head_of_its_own(submission, expect):
    """Llama-2 7B has 6,738,415,616 parameters; Llama-3 8B, with a quarter of the key heads, 8,030,261,248."""
    got = submission.memory.parameter_count(model("llama2-7b"))
    llama2 = ParameterCount(
        token_embedding=32000 * 4096,
        position_embedding=0,
        attention=32 * 4 * 4096 * 4096,
        mlp=32 * 3 * 4096 * 11008,
        norms=65 * 4096,
        output_head=32000 * 4096,
    )
    expect.terms(got, llama2, unit="parameters", case="Llama-2 7B")
    got = submission.memory.parameter_count(model("llama3-8b"))
    llama3 = ParameterCount(
        token_embedding=128256 * 4096,
        position_embedding=0,
        attention=32 * (2 * 4096 * 4096 + 2 * 4096 * 1024),  # 8 key-value heads of 128
        mlp=32 * 3 * 4096 * 14336,
        norms=65 * 4096,
        output_head=128256 * 4096,
    )
    expect.terms(got, llama3, unit="parameters", case="Llama-3 8B")


@pytest.mark.exercise("memory.parameter_count", weight=1)
def test_qwen_has_biases_on_three_projections_and_later_two_norms(submission, expect):
    """Qwen2.5 7B has biases on q, k and v only; Qwen3 0.6B has a norm on queries and keys instead."""
    got = submission.memory.parameter_count(model("qwen2.5-7b"))
    # 7,615,616,512 in all: 28 query heads and 4 key-value heads of 128, d = 3584
    qwen25 = ParameterCount(
        token_embedding=152064 * 3584,
        position_embedding=0,
        attention=28 * (2 * 3584 * 3584 + 2 * 3584 * 512 + 3584 + 2 * 512),
        mlp=28 * 3 * 3584 * 18944,
        norms=57 * 3584,
        output_head=152064 * 3584,
    )
    expect.terms(got, qwen25, unit="parameters", case="Qwen2.5 7B")
    got = submission.memory.parameter_count(model("qwen3-0.6b"))
    # 596,049,920 in all: 16 query heads and 8 key-value heads of 128 over d = 1024, tied
    qwen3 = ParameterCount(
        token_embedding=151936 * 1024,
        position_embedding=0,
        attention=28 * (2 * 1024 * 2048 + 2 * 1024 * 1024 + 2 * 128),
        mlp=28 * 3 * 1024 * 3072,
        norms=57 * 1024,
        output_head=0,
    )
    expect.terms(got, qwen3, unit="parameters", case="Qwen3 0.6B")


@pytest.mark.exercise("memory.parameter_count", weight=1)
def test_gemma_has_wide_heads_and_its_second_version_four_norms(submission, expect):
    """Gemma 7B's 16 heads of 256 are wider than d = 3072; Gemma 2 9B has four norms in a layer."""
    got = submission.memory.parameter_count(model("gemma-7b"))
    gemma = ParameterCount(  # 8,537,680,896 in all
        token_embedding=256000 * 3072,
        position_embedding=0,
        attention=28 * 4 * 3072 * 4096,
        mlp=28 * 3 * 3072 * 24576,
        norms=57 * 3072,
        output_head=0,
    )
    expect.terms(got, gemma, unit="parameters", case="Gemma 7B")
    got = submission.memory.parameter_count(model("gemma2-9b"))
    gemma2 = ParameterCount(  # 9,241,705,984 in all
        token_embedding=256000 * 3584,
        position_embedding=0,
        attention=42 * (2 * 3584 * 4096 + 2 * 3584 * 2048),
        mlp=42 * 3 * 3584 * 14336,
        norms=(42 * 4 + 1) * 3584,
        output_head=0,
    )
    expect.terms(got, gemma2, unit="parameters", case="Gemma 2 9B")


@pytest.mark.exercise("memory.parameter_count", weight=1)
def test_mpt_pads_its_vocabulary_and_learns_2048_positions(submission, expect):
    """MPT as benchmarked stores 50368 rows where its tokenizer has fewer, and 2048 positions."""
    got = submission.memory.parameter_count(model("mpt-125m"))
    mpt_small = ParameterCount(  # 125,311,488 in all
        token_embedding=50368 * 768,
        position_embedding=2048 * 768,
        attention=12 * (4 * 768 * 768 + 4 * 768),
        mlp=12 * (8 * 768 * 768 + 5 * 768),
        norms=(12 * 2 + 1) * 2 * 768,
        output_head=0,
    )
    expect.terms(got, mpt_small, unit="parameters", case="MPT 125M")
    got = submission.memory.parameter_count(model("mpt-7b"))
    mpt_7b = ParameterCount(  # 6,658,859,008 in all
        token_embedding=50368 * 4096,
        position_embedding=2048 * 4096,
        attention=32 * (4 * 4096 * 4096 + 4 * 4096),
        mlp=32 * (8 * 4096 * 4096 + 5 * 4096),
        norms=(32 * 2 + 1) * 2 * 4096,
        output_head=0,
    )
    expect.terms(got, mpt_7b, unit="parameters", case="MPT 7B")


TOY = Model(
    name="toy",
    hidden=4,
    layers=3,
    vocab=10,
    tied_embeddings=True,
    learned_positions=5,
    norm="layernorm",
    norm_bias=True,
    norms_per_layer=1,
    final_norm=False,
    head_bias=True,
    attention=GroupedAttention(
        heads=2, kv_heads=1, head_dim=3, qkv_bias=True, output_bias=True, qk_norm=True, sinks=True
    ),
    mlp=Mlp(intermediate=7, gated=True, bias=True),
)
"""Small enough to count on fingers, with every switch on that adds a parameter."""


@pytest.mark.exercise("memory.parameter_count", weight=1)
def test_every_switch_adds_its_own_parameters(submission, expect):
    """A toy model with all biases, norms and sinks on, and one with all of them off."""
    got = submission.memory.parameter_count(TOY)
    # A layer: q 4·6, k and v 4·3, output 6·4, their biases 6 + 3 + 3 + 4, norms of q and k 2·3, sinks 2; an
    # MLP of 3 matrices of 4·7 with biases 7 + 7 + 4; one norm of 2·4.
    every = ParameterCount(
        token_embedding=40, position_embedding=20, attention=3 * 96, mlp=3 * 102, norms=3 * 8, output_head=10
    )
    expect.terms(got, every, unit="parameters", case="the toy model, all switches on")
    plain = Model(
        name="plain toy",
        hidden=4,
        layers=5,
        vocab=10,
        tied_embeddings=False,
        norm="rmsnorm",
        attention=GroupedAttention(heads=2, kv_heads=2, head_dim=3),
        mlp=Mlp(intermediate=7, gated=False),
    )
    got = submission.memory.parameter_count(plain)
    # A layer: four projections of 4·6; MLP 2 matrices of 4·7; two norms of 4. One norm at the end.
    none = ParameterCount(
        token_embedding=40, position_embedding=0, attention=5 * 96, mlp=5 * 56, norms=11 * 4, output_head=40
    )
    expect.terms(got, none, unit="parameters", case="the toy model, all switches off")
