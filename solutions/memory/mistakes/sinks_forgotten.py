"""The sinks are forgotten."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "With sinks each layer learns one more value for each query head."
FAILS = (
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    attention = model.attention.model_copy(update={"sinks": False})
    return right(model.model_copy(update={"attention": attention}))
