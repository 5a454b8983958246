"""The load-balancing values of the router are forgotten."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "With router_correction_bias each router keeps one more value for each expert, used only to choose."
FAILS = (
    "test_shared_experts_and_dense_first_layers_are_always_used",
    "test_any_mixture_of_experts",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    experts = model.experts.model_copy(update={"router_correction_bias": False})
    return right(model.model_copy(update={"experts": experts}))
