"""The biases of the experts are forgotten."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "With experts.bias every matrix of every routed expert has a bias as wide as its output."
FAILS = (
    "test_gpt_oss_has_biases_in_experts_and_routers",
    "test_any_mixture_of_experts",
    "test_odd_but_legal_mixtures",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    experts = model.experts.model_copy(update={"bias": False})
    return right(model.model_copy(update={"experts": experts}))
