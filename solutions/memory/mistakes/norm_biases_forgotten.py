"""A LayerNorm is counted as its scale alone."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "A norm of this model has a bias beside its scale: see norm_bias."
FAILS = (
    "test_gpt2_small_has_124_439_808_parameters_and_xl_1_557_611_200",
    "test_mpt_pads_its_vocabulary_and_learns_2048_positions",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    return right(model.model_copy(update={"norm_bias": False}))
