"""The conventions "palm" and "causal" count parameters only, as "6nd" does."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = (
    "The convention that was named counts the scores and values of attention too, which no parameter "
    "takes part in."
)
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
        return 6 * parameters * tokens
    return right(parameters, tokens, convention, layers, hidden, sequence, vocab)
