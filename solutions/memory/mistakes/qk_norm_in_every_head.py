"""The norms of queries and keys are counted once for each head."""

from specs import Model, ParameterCount

from ..parameters import parameter_count as right

EXERCISE = "parameter_count"
HINT = (
    "The heads share the scales of qk_norm: there are two of head_dim in a layer, however many heads it has."
)
FAILS = (
    "test_qwen_has_biases_on_three_projections_and_later_two_norms",
    "test_every_switch_adds_its_own_parameters",
    "test_any_dense_model",
    "test_odd_but_legal_dense_models",
)


def parameter_count(model: Model) -> ParameterCount:
    counted = right(model)
    attention = model.attention
    if not attention.qk_norm:
        return counted
    extra = (attention.heads + attention.kv_heads - 2) * attention.head_dim * model.layers
    return counted.model_copy(update={"attention": counted.attention + extra})
