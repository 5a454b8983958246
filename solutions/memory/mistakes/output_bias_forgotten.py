"""The bias of the output projection is forgotten."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "With output_bias the projection back to hidden has a bias too."
FAILS = (
    "test_gpt2_small_has_124_439_808_parameters_and_xl_1_557_611_200",
    "test_mpt_pads_its_vocabulary_and_learns_2048_positions",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
)


def parameter_count(model: Model) -> ParameterCount:
    attention = model.attention.model_copy(update={"output_bias": False})
    return right(model.model_copy(update={"attention": attention}))
