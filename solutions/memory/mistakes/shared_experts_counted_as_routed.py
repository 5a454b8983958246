"""The shared experts are counted among the routed ones."""

from specs import ExpertParameterCount, LatentAttention, Model

from ..parameters import expert_parameter_counts as right

EXERCISE = "expert_parameter_counts"
HINT = "Shared experts are not routed: every token visits them, so they belong to always_used."
FAILS = (
    "test_shared_experts_and_dense_first_layers_are_always_used",
    "test_any_mixture_of_experts",
    "test_odd_but_legal_mixtures",
)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
    if isinstance(model.attention, LatentAttention):  # another exercise
        return right(model)
    counted = right(model)
    without = right(model.model_copy(update={"experts": model.experts.model_copy(update={"shared": 0})}))
    shared = counted.always_used - without.always_used
    return ExpertParameterCount(
        always_used=without.always_used,
        routed=counted.routed + shared,
        routed_active=counted.routed_active + shared,
    )
