"""Only the routed experts are counted."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "There is more than the experts: embeddings, head, attention, norms and routers are always used."
FAILS = (
    "test_mixtral_8x7b_has_46_702_792_704_parameters_and_uses_12_879_925_248",
    "test_gpt_oss_has_biases_in_experts_and_routers",
    "test_shared_experts_and_dense_first_layers_are_always_used",
    "test_qwen3_uses_3_of_its_30_billion",
    "test_any_mixture_of_experts",
    "test_odd_but_legal_mixtures",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    return right(model).model_copy(update={"always_used": 0})
