"""Causal counting is PaLM's."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = "Under a causal mask a token sees half of the sequence on average. Which term does that change?"
FAILS = (
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
    if convention == "causal":
        return right(parameters, tokens, "palm", layers, hidden, sequence)
    return right(parameters, tokens, convention, layers, hidden, sequence, vocab)
