"""The output head is counted as recomputed too."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = (
    "The output head comes after the last layer and is not run again: its term is 6 · vocab · hidden a token."
)
FAILS = (
    "test_megatrons_equation_has_full_recomputation_in_it",
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
    if convention == "megatron-sc21":
        return tokens * (96 * layers * hidden**2 + 16 * layers * hidden * sequence + 8 * vocab * hidden)
    return right(parameters, tokens, convention, layers, hidden, sequence, vocab)
