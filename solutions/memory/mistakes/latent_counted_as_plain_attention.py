"""Latent attention is counted as plain multi-head attention, with heads v_head_dim wide."""

from specs import ExpertParameterCount, GroupedAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "latent_parameter_counts"
HINT = "You counted four full projections. Latent attention goes down and up again instead."
FAILS = (
    "test_deepseek_v3_has_671_026_419_200_parameters",
    "test_queries_may_be_left_uncompressed",
    "test_only_the_latent_vector_is_per_layer_and_the_rest_per_head",
    "test_any_model_under_latent_attention",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, GroupedAttention):  # another exercise
        return right(model)
    latent = model.attention
    plain = GroupedAttention(heads=latent.heads, kv_heads=latent.heads, head_dim=latent.v_head_dim)
    return right(model.model_copy(update={"attention": plain}))
