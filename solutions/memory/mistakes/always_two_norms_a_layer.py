"""Every layer is taken to have two norms."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "Not every layer has two norms: the model says norms_per_layer."
FAILS = (
    "test_gemma_has_wide_heads_and_its_second_version_four_norms",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    return right(model.model_copy(update={"norms_per_layer": 2}))
