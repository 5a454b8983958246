"""The up projection makes rotary keys too."""

from specs import ExpertParameterCount, GroupedAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "latent_parameter_counts"
HINT = (
    "Rotary keys are not rebuilt from the latent vector: up go qk_nope_head_dim and v_head_dim for each head."
)
FAILS = (
    "test_deepseek_v3_has_671_026_419_200_parameters",
    "test_queries_may_be_left_uncompressed",
    "test_only_the_latent_vector_is_per_layer_and_the_rest_per_head",
    "test_any_model_under_latent_attention",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, GroupedAttention):  # another exercise
        return right(model)
    counted, attention = right(model), model.attention
    extra = attention.kv_lora_rank * attention.heads * attention.qk_rope_head_dim
    return counted.model_copy(update={"always_used": counted.always_used + model.layers * extra})
