"""The MLP is taken to be 4·hidden wide."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "You took 4·hidden for the width of the MLP. The model says mlp.intermediate."
FAILS = (
    "test_llama_shares_keys_gates_its_mlp_and_has_a_head_of_its_own",
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_gemma_has_wide_heads_and_its_second_version_four_norms",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    mlp = model.mlp.model_copy(update={"intermediate": 4 * model.hidden})
    return right(model.model_copy(update={"mlp": mlp}))
