"""The output projection gets a bias where q, k and v have one, and nowhere else."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = "qkv_bias and output_bias are two switches: Qwen2.5 has the first one only."
FAILS = (
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_any_dense_model",
)


def parameter_count(model: Model) -> ParameterCount:
    attention = model.attention.model_copy(update={"output_bias": model.attention.qkv_bias})
    return right(model.model_copy(update={"attention": attention}))
