"""The norms of queries and keys are forgotten."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "With qk_norm there are two more scales in each layer, of head_dim each."
FAILS = (
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    attention = model.attention.model_copy(update={"qk_norm": False})
    return right(model.model_copy(update={"attention": attention}))
