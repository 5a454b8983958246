"""The queries are one matrix though they are compressed."""

from specs import ExpertParameterCount, GroupedAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "latent_parameter_counts"
HINT = "With q_lora_rank the queries go down to that rank and up again, with a norm between."
FAILS = (
    "test_deepseek_v3_has_671_026_419_200_parameters",
    "test_queries_may_be_left_uncompressed",
    "test_any_model_under_latent_attention",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, GroupedAttention):  # another exercise
        return right(model)
    attention = model.attention.model_copy(update={"q_lora_rank": None})
    return right(model.model_copy(update={"attention": attention}))
