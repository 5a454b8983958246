"""Each head gets a rotary key of its own."""

from specs import ExpertParameterCount, GroupedAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "latent_parameter_counts"
HINT = "All heads share one rotary key: the down projection is kv_lora_rank + qk_rope_head_dim wide."
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
    extra = (attention.heads - 1) * attention.qk_rope_head_dim * model.hidden
    return counted.model_copy(update={"always_used": counted.always_used + model.layers * extra})
