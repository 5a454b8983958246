"""The shared experts are forgotten."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "Besides the routed experts there are shared ones, which every token visits."
FAILS = (
    "test_shared_experts_and_dense_first_layers_are_always_used",
    "test_any_mixture_of_experts",
    "test_odd_but_legal_mixtures",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    experts = model.experts.model_copy(update={"shared": 0})
    return right(model.model_copy(update={"experts": experts}))
