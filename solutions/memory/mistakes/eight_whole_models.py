"""8x7B is taken for eight whole models of 7B."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "You multiplied the whole model by the number of experts: only the MLP is there `count` times."
FAILS = (
    "test_mixtral_8x7b_has_46_702_792_704_parameters_and_uses_12_879_925_248",
    "test_gpt_oss_has_biases_in_experts_and_routers",
    "test_shared_experts_and_dense_first_layers_are_always_used",
    "test_qwen3_uses_3_of_its_30_billion",
    "test_any_mixture_of_experts",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    counted, experts = right(model), model.experts
    return ExpertParameterCount(
        always_used=0,
        routed=counted.routed + experts.count * counted.always_used,
        routed_active=counted.routed_active + experts.active * counted.always_used,
    )
