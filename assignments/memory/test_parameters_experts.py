"""Visible checks of parameters.py: section 5, with grouped attention and with latent attention."""

import pytest

from specs import ExpertParameterCount, Experts, GroupedAttention, LatentAttention, Mlp, Model, model

# ---- 5. expert_parameter_counts under grouped attention


@pytest.mark.exercise("memory.expert_parameter_counts", weight=2)
def test_mixtral_8x7b_has_46_702_792_704_parameters_and_uses_12_879_925_248(submission, expect):
    """Mixtral 8x7B has 46.7 billion parameters, a token uses 12.9 billion; 8x22B is counted the same way."""
    got = submission.memory.expert_parameter_counts(model("mixtral-8x7b"))
    # d = 4096, 32 layers: embedding and head, attention with 8 key-value heads of 128, 65 norms, 32 routers
    small = ExpertParameterCount(
        always_used=2 * 32000 * 4096 + 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024) + 65 * 4096 + 32 * 4096 * 8,
        routed=32 * 8 * 3 * 4096 * 14336,
        routed_active=32 * 2 * 3 * 4096 * 14336,
    )
    expect.terms(got, small, unit="parameters", case="Mixtral 8x7B")
    got = submission.memory.expert_parameter_counts(model("mixtral-8x22b"))
    # d = 6144, 56 layers, 48 query heads and 8 key-value heads of 128
    large = ExpertParameterCount(
        always_used=2 * 32000 * 6144 + 56 * (2 * 6144 * 6144 + 2 * 6144 * 1024) + 113 * 6144 + 56 * 6144 * 8,
        routed=56 * 8 * 3 * 6144 * 16384,
        routed_active=56 * 2 * 3 * 6144 * 16384,
    )
    expect.terms(got, large, unit="parameters", case="Mixtral 8x22B")


@pytest.mark.exercise("memory.expert_parameter_counts", weight=1)
def test_gpt_oss_has_biases_in_experts_and_routers(submission, expect):
    """gpt-oss has a bias in every expert and router, and sinks: 20,914,757,184 and 116,829,156,672 in all."""
    got = submission.memory.expert_parameter_counts(model("gpt-oss-20b"))
    # One expert: gate and up 2880·2880 + 2880 each, down the same. Attention of a layer: q 2880·4096 + 4096,
    # k and v 2880·512 + 512 each, output 4096·2880 + 2880, 64 sinks: 26,550,144.
    small = ExpertParameterCount(
        always_used=2 * 201088 * 2880 + 24 * 26_550_144 + 49 * 2880 + 24 * (2880 * 32 + 32),
        routed=24 * 32 * 3 * (2880 * 2880 + 2880),
        routed_active=24 * 4 * 3 * (2880 * 2880 + 2880),
    )
    expect.terms(got, small, unit="parameters", case="gpt-oss 20B")
    got = submission.memory.expert_parameter_counts(model("gpt-oss-120b"))
    large = ExpertParameterCount(
        always_used=2 * 201088 * 2880 + 36 * 26_550_144 + 73 * 2880 + 36 * (2880 * 128 + 128),
        routed=36 * 128 * 3 * (2880 * 2880 + 2880),
        routed_active=36 * 4 * 3 * (2880 * 2880 + 2880),
    )
    expect.terms(got, large, unit="parameters", case="gpt-oss 120B")


TOY_EXPERTS = Model(
    name="toy experts",
    hidden=4,
    layers=5,
    vocab=10,
    tied_embeddings=True,
    norm="rmsnorm",
    attention=GroupedAttention(heads=2, kv_heads=1, head_dim=3),
    mlp=Mlp(intermediate=7, gated=False, bias=True),
    experts=Experts(
        count=6,
        active=2,
        intermediate=3,
        shared=1,
        shared_intermediate=5,
        router_correction_bias=True,
        dense_layers=2,
    ),
)
"""Two dense layers, then three with six experts of 36 parameters and a shared one of 60."""


@pytest.mark.exercise("memory.expert_parameter_counts", weight=1)
def test_shared_experts_and_dense_first_layers_are_always_used(submission, expect):
    """Shared experts, dense first layers and routers belong to what every token uses."""
    got = submission.memory.expert_parameter_counts(TOY_EXPERTS)
    # Embedding 40, five attentions of 24 + 12 + 12 + 24, eleven norms of 4, two dense MLPs of 56 + 7 + 4, and
    # in three layers a shared expert of 3·4·5 and a router of 4·6 with 6 correction values.
    few = ExpertParameterCount(
        always_used=40 + 5 * 72 + 44 + 2 * 67 + 3 * 60 + 3 * 30, routed=3 * 6 * 36, routed_active=3 * 2 * 36
    )
    expect.terms(got, few, unit="parameters", case="three layers of experts")
    last_layer_only = TOY_EXPERTS.model_copy(
        update={"experts": Experts(count=6, active=5, intermediate=3, dense_layers=4)}
    )
    got = submission.memory.expert_parameter_counts(last_layer_only)
    one = ExpertParameterCount(
        always_used=40 + 5 * 72 + 44 + 4 * 67 + 24, routed=6 * 36, routed_active=5 * 36
    )
    expect.terms(got, one, unit="parameters", case="one layer of experts, none shared")


@pytest.mark.exercise("memory.expert_parameter_counts", weight=1)
def test_qwen3_uses_3_of_its_30_billion(submission, expect):
    """Qwen3 30B-A3B visits 8 of 128 experts and uses 3.35 of its 30.5 billion; were it 128, all of them."""
    # d = 2048, 48 layers, 32 query heads and 4 key-value heads of 128 with a norm on queries and keys
    always = (
        2 * 151936 * 2048 + 48 * (2 * 2048 * 4096 + 2 * 2048 * 512 + 2 * 128) + 97 * 2048 + 48 * 2048 * 128
    )
    one_expert_each_layer = 48 * 3 * 2048 * 768
    qwen3 = model("qwen3-30b-a3b")
    for active in (8, 128):
        experts = qwen3.experts.model_copy(update={"active": active})
        got = submission.memory.expert_parameter_counts(qwen3.model_copy(update={"experts": experts}))
        right = ExpertParameterCount(
            always_used=always,
            routed=128 * one_expert_each_layer,
            routed_active=active * one_expert_each_layer,
        )
        expect.terms(got, right, unit="parameters", case=f"Qwen3 30B, {active} experts visited")


# ---- 5. expert_parameter_counts under latent attention


@pytest.mark.exercise("memory.latent_parameter_counts", weight=2)
def test_deepseek_v3_has_671_026_419_200_parameters(submission, expect):
    """DeepSeek-V3 has 671.0 billion parameters and uses 37.6; DeepSeek-V2 235.7 and 21.4."""
    # Attention of a layer in both, with 128 heads, queries of 192 = 128 + 64 and values of 128:
    # q down d·1536, norm 1536, up 1536·24576; kv down d·(512 + 64), norm 512, up 512·128·256; output 16384·d.
    got = submission.memory.expert_parameter_counts(model("deepseek-v3"))
    attention = 7168 * 1536 + 1536 + 1536 * 24576 + 7168 * 576 + 512 + 512 * 32768 + 16384 * 7168
    one_expert = 3 * 7168 * 2048
    v3 = ExpertParameterCount(
        always_used=2 * 129280 * 7168  # embedding and head
        + 61 * attention
        + 123 * 7168  # norms
        + 3 * 3 * 7168 * 18432  # dense layers
        + 58 * (7168 * 256 + 256)  # routers and their correction
        + 58 * one_expert,  # shared
        routed=58 * 256 * one_expert,
        routed_active=58 * 8 * one_expert,
    )
    expect.terms(got, v3, unit="parameters", case="DeepSeek-V3")
    got = submission.memory.expert_parameter_counts(model("deepseek-v2"))
    attention = 5120 * 1536 + 1536 + 1536 * 24576 + 5120 * 576 + 512 + 512 * 32768 + 16384 * 5120
    one_expert = 3 * 5120 * 1536
    v2 = ExpertParameterCount(
        always_used=2 * 102400 * 5120
        + 60 * attention
        + 121 * 5120
        + 3 * 5120 * 12288
        + 59 * 5120 * 160
        + 59 * 2 * one_expert,
        routed=59 * 160 * one_expert,
        routed_active=59 * 6 * one_expert,
    )
    expect.terms(got, v2, unit="parameters", case="DeepSeek-V2")


@pytest.mark.exercise("memory.latent_parameter_counts", weight=1)
def test_queries_may_be_left_uncompressed(submission, expect):
    """Where q_lora_rank is None the queries are one matrix and have no norm, as in DeepSeek-V2-Lite."""
    toy = TOY_EXPERTS.model_copy(
        update={
            "attention": LatentAttention(
                heads=2, q_lora_rank=3, kv_lora_rank=5, qk_nope_head_dim=2, qk_rope_head_dim=1, v_head_dim=4
            )
        }
    )
    got = submission.memory.expert_parameter_counts(toy)
    # q down 4·3, norm 3, up 3·6; kv down 4·(5 + 1), norm 5, up 5·2·(2 + 4); output 8·4: 154. The rest is
    # as in the check of shared experts: embedding 40, norms 44, dense MLPs 134, shared 180, routers 90.
    compressed = ExpertParameterCount(
        always_used=40 + 44 + 134 + 180 + 90 + 5 * 154, routed=3 * 6 * 36, routed_active=3 * 2 * 36
    )
    expect.terms(got, compressed, unit="parameters", case="the toy model, queries compressed to 3")
    lite = Model(
        name="deepseek-v2-lite",
        source="DeepSeek-AI 2024, arXiv 2405.04434, appendix B",
        hidden=2048,
        layers=27,
        vocab=102400,
        tied_embeddings=False,
        norm="rmsnorm",
        attention=LatentAttention(
            heads=16, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128
        ),
        mlp=Mlp(intermediate=10944, gated=True),
        experts=Experts(
            count=64, active=6, intermediate=1408, shared=2, shared_intermediate=1408, dense_layers=1
        ),
    )
    got = submission.memory.expert_parameter_counts(lite)
    attention = 2048 * 3072 + 2048 * 576 + 512 + 512 * 4096 + 2048 * 2048
    one_expert = 3 * 2048 * 1408
    right = ExpertParameterCount(  # 15.7 billion in all
        always_used=2 * 102400 * 2048
        + 27 * attention
        + 55 * 2048
        + 3 * 2048 * 10944
        + 26 * 2048 * 64
        + 26 * 2 * one_expert,
        routed=26 * 64 * one_expert,
        routed_active=26 * 6 * one_expert,
    )
    expect.terms(got, right, unit="parameters", case="DeepSeek-V2-Lite")


@pytest.mark.exercise("memory.latent_parameter_counts", weight=1)
def test_only_the_latent_vector_is_per_layer_and_the_rest_per_head(submission, expect):
    """Twice the heads double what is per head; the latent vector and the one rotary key stay as they are."""
    # Per layer: q 4·(heads·3), kv down 4·(5 + 1), norm 5, up 5·heads·(2 + 4), output heads·4·4.
    for heads, attention in ((2, 24 + 24 + 5 + 60 + 32), (4, 48 + 24 + 5 + 120 + 64)):
        toy = TOY_EXPERTS.model_copy(
            update={
                "attention": LatentAttention(
                    heads=heads, kv_lora_rank=5, qk_nope_head_dim=2, qk_rope_head_dim=1, v_head_dim=4
                )
            }
        )
        got = submission.memory.expert_parameter_counts(toy)
        right = ExpertParameterCount(
            always_used=40 + 44 + 134 + 180 + 90 + 5 * attention, routed=3 * 6 * 36, routed_active=3 * 2 * 36
        )
        expect.terms(got, right, unit="parameters", case=f"the toy model with {heads} heads")
