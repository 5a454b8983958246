"""No norm is counted, neither the layers' nor the last."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = (
    "You count no norm at all. Every layer has norms_per_layer of them, and behind the last layer there is one more "
    "where final_norm says so."
)
FAILS = (
    "test_gpt2_small_has_124_439_808_parameters_and_xl_1_557_611_200",
    "test_llama_shares_keys_gates_its_mlp_and_has_a_head_of_its_own",
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_gemma_has_wide_heads_and_its_second_version_four_norms",
    "test_mpt_pads_its_vocabulary_and_learns_2048_positions",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    return right(model).model_copy(update={"norms": 0})
