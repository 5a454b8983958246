"""The bias of the output head is forgotten."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "With head_bias the head has vocab values of its own, tied or not."
FAILS = (
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    return right(model.model_copy(update={"head_bias": False}))
