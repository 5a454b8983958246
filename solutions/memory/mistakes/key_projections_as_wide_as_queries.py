"""Keys and values are given as many heads as the queries have."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "Keys and values have kv_heads heads, not heads: look at the width of k and v."
FAILS = (
    "test_llama_shares_keys_gates_its_mlp_and_has_a_head_of_its_own",
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_gemma_has_wide_heads_and_its_second_version_four_norms",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    attention = model.attention.model_copy(update={"kv_heads": model.attention.heads})
    return right(model.model_copy(update={"attention": attention}))
