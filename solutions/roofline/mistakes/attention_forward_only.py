"""Attention's forward is counted without its backward."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = "Scores and values cost 4 FLOPs a layer, feature and visible token in the forward. And backward?"
FAILS = (
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
    if convention in ("palm", "causal"):
        attention = right(0, tokens, convention, layers, hidden, sequence)
        return 6 * parameters * tokens + attention / 3
    return right(parameters, tokens, convention, layers, hidden, sequence, vocab)
