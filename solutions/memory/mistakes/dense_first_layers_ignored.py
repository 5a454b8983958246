"""Every layer is taken to have experts."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "The first dense_layers layers have model.mlp and neither experts nor a router."
FAILS = (
    "test_shared_experts_and_dense_first_layers_are_always_used",
    "test_any_mixture_of_experts",
    "test_odd_but_legal_mixtures",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    experts = model.experts.model_copy(update={"dense_layers": 0})
    return right(model.model_copy(update={"experts": experts}))
