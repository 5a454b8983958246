"""Backward is counted as costly as forward."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = "Backward needs two matmuls where forward has one: the gradient of the input and that of the weights."
FAILS = (
    "test_6_n_d_and_8_n_d",
    "test_palms_convention_adds_attention_over_the_whole_sequence",
    "test_causal_counting_halves_attention_and_nothing_else",
    "test_any_model_under_any_convention",
)


def training_flops(
    parameters: float,
    tokens: float,
    convention: str,
    layers: int = 0,
    hidden: int = 0,
    sequence: int = 0,
    vocab: int = 0,
) -> float:
    counted = right(parameters, tokens, convention, layers, hidden, sequence, vocab)
    if convention == "megatron-sc21":
        # The layers are four forwards' worth; the head, which is not recomputed, is three.
        of_layers = right(parameters, tokens, convention, layers, hidden, sequence)
        return 3 / 4 * of_layers + 2 / 3 * (counted - of_layers)
    return (3 / 4 if convention == "8nd" else 2 / 3) * counted
