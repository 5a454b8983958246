"""Visible checks of activations.py: sections 6 and 7."""

import pytest

from specs import ActivationBytes, KvCacheBytes, model


def activations(submission, shape, recomputation):
    """The activations of (layers, hidden, heads, sequence, batch)."""
    layers, hidden, heads, sequence, batch = shape
    return submission.memory.activation_bytes(
        layers=layers,
        hidden=hidden,
        heads=heads,
        sequence=sequence,
        batch=batch,
        recomputation=recomputation,
    )


@pytest.mark.exercise("memory.activation_bytes", weight=2)
def test_a_model_small_enough_for_pencil_and_paper(submission, expect):
    """Two models that are small enough for pencil and paper keep what the formula says, part by part."""
    # sbh = 7·5·8 = 280 and as²b = 2·49·5 = 490; three layers
    got = activations(submission, (3, 8, 2, 7, 5), "none")
    right = ActivationBytes(
        attention=3 * 11 * 280,
        attention_scores=3 * 5 * 490,
        mlp=3 * 19 * 280,
        norms=3 * 4 * 280,
        layer_inputs=0,
    )
    expect.terms(got, right, unit="bytes", case="L=3 h=8 a=2 s=7 b=5")
    # sbh = 6·1·12 = 72 and as²b = 4·36·1 = 144; two layers
    got = activations(submission, (2, 12, 4, 6, 1), "none")
    right = ActivationBytes(
        attention=2 * 11 * 72,
        attention_scores=2 * 5 * 144,
        mlp=2 * 19 * 72,
        norms=2 * 4 * 72,
        layer_inputs=0,
    )
    expect.terms(got, right, unit="bytes", case="L=2 h=12 a=4 s=6 b=1")


@pytest.mark.exercise("memory.activation_bytes", weight=1)
def test_the_chapters_7b_keeps_32_5_gb(submission, expect):
    """The chapter's 7B keeps 32.5 GB of activations at sequence 2048 and batch 1, 130 GB at batch 4."""
    # sbh = 8,650,752 and 5as/h = 80, so 33 · 8,650,752 · (34 + 80) = 32,544,129,024
    got = activations(submission, (33, 4224, 33, 2048, 1), "none")
    right = ActivationBytes(
        attention=3_140_222_976,
        attention_scores=22_837_985_280,
        mlp=5_424_021_504,
        norms=1_141_899_264,
        layer_inputs=0,
    )
    expect.terms(got, right, unit="bytes", case="7B, batch 1")
    got = activations(submission, (33, 4224, 33, 2048, 4), "none")
    right = ActivationBytes(
        attention=12_560_891_904,
        attention_scores=91_351_941_120,
        mlp=21_696_086_016,
        norms=4_567_597_056,
        layer_inputs=0,
    )
    expect.terms(got, right, unit="bytes", case="7B, batch 4")


@pytest.mark.exercise("memory.activation_bytes", weight=1)
def test_twice_the_sequence_is_four_times_the_scores(submission, expect):
    """Twice the sequence makes four times the attention scores and twice everything else."""
    # sbh = 1024·4·2048 = 8,388,608 and as²b = 16·1024²·4 = 67,108,864; 24 layers
    got = activations(submission, (24, 2048, 16, 1024, 4), "none")
    right = ActivationBytes(
        attention=2_214_592_512,
        attention_scores=8_053_063_680,
        mlp=3_825_205_248,
        norms=805_306_368,
        layer_inputs=0,
    )
    expect.terms(got, right, unit="bytes", case="1.3B, sequence 1024")
    got = activations(submission, (24, 2048, 16, 2048, 4), "none")
    right = ActivationBytes(
        attention=4_429_185_024,
        attention_scores=32_212_254_720,
        mlp=7_650_410_496,
        norms=1_610_612_736,
        layer_inputs=0,
    )
    expect.terms(got, right, unit="bytes", case="1.3B, sequence 2048")


@pytest.mark.exercise("memory.activation_bytes", weight=1)
def test_selective_recomputation_drops_the_scores_alone(submission, expect):
    """Selective recomputation drops the attention scores and nothing else: 70 % of GPT-3, 65 % of MT-NLG."""
    # Korthikanti et al., section 5: 5as/h is 80 for GPT-3 and 64 for MT-NLG, so 80/114 and 64/98 are saved.
    gpt3, mtnlg = (96, 12288, 96, 2048, 1), (105, 20480, 128, 2048, 1)
    kept = {"attention": 26_575_110_144, "mlp": 45_902_462_976, "norms": 9_663_676_416, "layer_inputs": 0}
    got = activations(submission, gpt3, "none")
    right = ActivationBytes(attention_scores=193_273_528_320, **kept)
    expect.terms(got, right, unit="bytes", case="GPT-3, no recomputation")
    got = activations(submission, gpt3, "selective")
    expect.terms(got, ActivationBytes(attention_scores=0, **kept), unit="bytes", case="GPT-3, selective")
    got = activations(submission, mtnlg, "selective")
    right = ActivationBytes(
        attention=48_444_211_200,
        attention_scores=0,
        mlp=83_676_364_800,
        norms=17_616_076_800,
        layer_inputs=0,
    )
    expect.terms(got, right, unit="bytes", case="MT-NLG, selective")


@pytest.mark.exercise("memory.activation_bytes", weight=1)
def test_full_recomputation_keeps_the_input_of_each_layer(submission, expect):
    """Full recomputation keeps 2·s·b·h bytes a layer: GPT-3 4.8 GB, Llama 3 8B 8 GiB at 32,768 tokens."""
    nothing_else = {"attention": 0, "attention_scores": 0, "mlp": 0, "norms": 0}
    got = activations(submission, (96, 12288, 96, 2048, 1), "full")
    right = ActivationBytes(layer_inputs=4_831_838_208, **nothing_else)  # 96 · 2 · 25,165,824
    expect.terms(got, right, unit="bytes", case="GPT-3, full")
    got = activations(submission, (32, 4096, 32, 32768, 1), "full")
    right = ActivationBytes(layer_inputs=8 * 2**30, **nothing_else)  # Bekman, Machine Learning Engineering
    expect.terms(got, right, unit="bytes", case="Llama 3 8B at 32,768 tokens, full")


def cached(both):
    """A cache with as many bytes of keys as of values, `both` in all."""
    return KvCacheBytes(keys=both // 2, values=both // 2, latent=0, rotary_keys=0)


@pytest.mark.exercise("memory.kv_cache_bytes", weight=1)
def test_one_token_under_multi_query_and_multi_head_attention(submission, expect):
    """One token costs PaLM 540B 120,832 bytes with one key-value head, and GPT-2 36,864 bytes with twelve."""
    got = submission.memory.kv_cache_bytes(model("palm-540b"), sequence=1, batch=1, dtype="bf16")
    expect.terms(got, cached(120_832), unit="bytes", case="PaLM 540B, 1 token")  # 2 · 118 · 1·256 · 2
    got = submission.memory.kv_cache_bytes(model("gpt2"), sequence=1, batch=1, dtype="bf16")
    expect.terms(got, cached(36_864), unit="bytes", case="GPT-2, 1 token")  # 2 · 12 · 12·64 · 2


@pytest.mark.exercise("memory.kv_cache_bytes", weight=1)
def test_one_token_under_grouped_attention(submission, expect):
    """One token costs Llama 3.1 405B 516,096 bytes and Qwen2.5 72B 327,680 bytes: grouped heads."""
    # Insights into DeepSeek-V3 (arXiv 2505.09343), table 1
    got = submission.memory.kv_cache_bytes(model("llama3.1-405b"), sequence=1, batch=1, dtype="bf16")
    expect.terms(got, cached(516_096), unit="bytes", case="Llama 3.1 405B, 1 token")
    got = submission.memory.kv_cache_bytes(model("qwen2.5-72b"), sequence=1, batch=1, dtype="bf16")
    expect.terms(got, cached(327_680), unit="bytes", case="Qwen2.5 72B, 1 token")


@pytest.mark.exercise("memory.kv_cache_bytes", weight=1)
def test_grows_with_the_sequence_and_with_the_batch(submission, expect):
    """Llama 2 13B at 8192 tokens takes 6.7 GB for one sequence and 16 times that for 16."""
    # How to Scale Your Model, inference: 8192 · 40 heads · 128 · 40 layers · 2 · 2 = 6.7e9
    got = submission.memory.kv_cache_bytes(model("llama2-13b"), sequence=8192, batch=1, dtype="bf16")
    expect.terms(got, cached(6_710_886_400), unit="bytes", case="Llama 2 13B, batch 1")
    got = submission.memory.kv_cache_bytes(model("llama2-13b"), sequence=8192, batch=16, dtype="bf16")
    expect.terms(got, cached(107_374_182_400), unit="bytes", case="Llama 2 13B, batch 16")


@pytest.mark.exercise("memory.kv_cache_bytes", weight=1)
def test_follows_the_number_format(submission, expect):
    """One token costs Llama 3 70B 163,840 bytes in int8, half of that in int4 and four times that in fp32."""
    # How to Scale Your Model, applied inference: 2 · 80 layers · 8 heads · 128
    for dtype, right in (("int8", 163_840), ("int4", 81_920), ("fp32", 655_360)):
        got = submission.memory.kv_cache_bytes(model("llama3-70b"), sequence=1, batch=1, dtype=dtype)
        expect.terms(got, cached(right), unit="bytes", case=f"Llama 3 70B, 1 token in {dtype}")


@pytest.mark.exercise("memory.kv_cache_bytes", weight=1)
def test_a_sliding_window_caps_the_tokens(submission, expect):
    """Mistral 7B keeps 4096 tokens of 32,768, an eighth; of a sequence of 1000 it keeps all."""
    # A token takes 2 · 32 layers · 8 heads · 128 · 2 = 131,072 bytes.
    got = submission.memory.kv_cache_bytes(model("mistral-7b"), sequence=32_768, batch=1, dtype="bf16")
    expect.terms(got, cached(4096 * 131_072), unit="bytes", case="Mistral 7B, 32,768 tokens")
    got = submission.memory.kv_cache_bytes(model("mistral-7b"), sequence=1000, batch=2, dtype="bf16")
    expect.terms(got, cached(2 * 1000 * 131_072), unit="bytes", case="Mistral 7B, 2 × 1000 tokens")


@pytest.mark.exercise("memory.kv_cache_bytes", weight=1)
def test_only_some_layers_may_have_the_window(submission, expect):
    """gpt-oss 20B has a window of 128 tokens in 12 of its 24 layers; the other 12 keep every token."""
    # A token and layer takes 2 · 8 heads · 64 · 2 = 2048 bytes.
    got = submission.memory.kv_cache_bytes(model("gpt-oss-20b"), sequence=131_072, batch=1, dtype="bf16")
    right = 2048 * (12 * 131_072 + 12 * 128)
    expect.terms(got, cached(right), unit="bytes", case="gpt-oss 20B, 131,072 tokens")
    got = submission.memory.kv_cache_bytes(model("gpt-oss-20b"), sequence=100, batch=3, dtype="bf16")
    expect.terms(got, cached(2048 * 3 * 24 * 100), unit="bytes", case="gpt-oss 20B, 3 × 100 tokens")


@pytest.mark.exercise("memory.latent_kv_cache_bytes", weight=1)
def test_one_token_under_latent_attention(submission, expect):
    """One token costs DeepSeek-V3 70,272 bytes, a seventh of Llama 3.1 405B, and DeepSeek-V2 69,120 bytes."""
    # Insights into DeepSeek-V3 (arXiv 2505.09343), table 1; 61 and 60 layers of (512 + 64) · 2 bytes
    got = submission.memory.kv_cache_bytes(model("deepseek-v3"), sequence=1, batch=1, dtype="bf16")
    right = KvCacheBytes(keys=0, values=0, latent=62_464, rotary_keys=7_808)
    expect.terms(got, right, unit="bytes", case="DeepSeek-V3, 1 token")
    got = submission.memory.kv_cache_bytes(model("deepseek-v2"), sequence=1, batch=1, dtype="bf16")
    right = KvCacheBytes(keys=0, values=0, latent=61_440, rotary_keys=7_680)
    expect.terms(got, right, unit="bytes", case="DeepSeek-V2, 1 token")


@pytest.mark.exercise("memory.latent_kv_cache_bytes", weight=1)
def test_a_latent_cache_grows_with_sequence_and_batch(submission, expect):
    """DeepSeek-V3 keeps 2.3 GB for 32,768 tokens in bf16, and for a batch of 8 in fp8 four times that."""
    got = submission.memory.kv_cache_bytes(model("deepseek-v3"), sequence=32_768, batch=1, dtype="bf16")
    right = KvCacheBytes(keys=0, values=0, latent=32_768 * 62_464, rotary_keys=32_768 * 7_808)
    expect.terms(got, right, unit="bytes", case="DeepSeek-V3, batch 1")
    got = submission.memory.kv_cache_bytes(model("deepseek-v3"), sequence=32_768, batch=8, dtype="fp8")
    right = KvCacheBytes(keys=0, values=0, latent=4 * 32_768 * 62_464, rotary_keys=4 * 32_768 * 7_808)
    expect.terms(got, right, unit="bytes", case="DeepSeek-V3, batch 8 in fp8")


@pytest.mark.exercise("memory.latent_kv_cache_bytes", weight=1)
def test_a_latent_cache_does_not_depend_on_the_heads(submission, expect):
    """DeepSeek-V2 with 16 heads caches as much as with 128; with 27 layers it is 15,552 values a token."""
    deepseek = model("deepseek-v2")
    fewer_heads = deepseek.model_copy(
        update={"attention": deepseek.attention.model_copy(update={"heads": 16})}
    )
    got = submission.memory.kv_cache_bytes(fewer_heads, sequence=1, batch=1, dtype="bf16")
    right = KvCacheBytes(keys=0, values=0, latent=61_440, rotary_keys=7_680)
    expect.terms(got, right, unit="bytes", case="DeepSeek-V2 with 16 heads, 1 token")
    # DeepSeek-V2 (arXiv 2405.04434), table 9: the small model, one byte a value; 27 · (512 + 64)
    smaller = deepseek.model_copy(update={"layers": 27})
    got = submission.memory.kv_cache_bytes(smaller, sequence=1, batch=1, dtype="int8")
    right = KvCacheBytes(keys=0, values=0, latent=13_824, rotary_keys=1_728)
    expect.terms(got, right, unit="bytes", case="27 layers, 1 token in int8")
