"""The width of a head is taken to be hidden / heads."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "You took hidden / heads for the width of a head. The model says head_dim, which need not be that."
FAILS = (
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_gemma_has_wide_heads_and_its_second_version_four_norms",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    attention = model.attention.model_copy(update={"head_dim": model.hidden // model.attention.heads})
    return right(model.model_copy(update={"attention": attention}))
