"""One router is counted for the whole model."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "Each layer with experts has a router of its own."
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
    biases = experts.router_bias + experts.router_correction_bias
    all_but_one = (model.layers - experts.dense_layers - 1) * experts.count * (model.hidden + biases)
    return counted.model_copy(update={"always_used": counted.always_used - all_but_one})
