"""The matrix of the output head is never counted, as if it were always tied; its bias is."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "This model does not tie its embeddings: its head is a second matrix of (hidden, vocab)."
FAILS = (
    "test_llama_shares_keys_gates_its_mlp_and_has_a_head_of_its_own",
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
)


def parameter_count(model: Model) -> ParameterCount:
    return right(model.model_copy(update={"tied_embeddings": True}))
