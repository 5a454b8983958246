"""The bias of the router is forgotten."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "With router_bias each router has one more value for each expert."
FAILS = (
    "test_gpt_oss_has_biases_in_experts_and_routers",
    "test_any_mixture_of_experts",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    experts = model.experts.model_copy(update={"router_bias": False})
    return right(model.model_copy(update={"experts": experts}))
