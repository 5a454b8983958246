"""Megatron's equation without the recomputed forward."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = "That is what the model needs. Equation 3 has 96 and not 72 in front: one more forward of the layers."
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
        return tokens * (72 * layers * hidden**2 + 12 * layers * hidden * sequence + 6 * vocab * hidden)
    return right(parameters, tokens, convention, layers, hidden, sequence, vocab)
