"""Only the forward is counted, 2 FLOPs for each parameter."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = "That is the forward alone. Training runs backward too, and backward costs twice as much."
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
        return 1 / 4 * of_layers + 1 / 3 * (counted - of_layers)
    return (1 / 4 if convention == "8nd" else 1 / 3) * counted
