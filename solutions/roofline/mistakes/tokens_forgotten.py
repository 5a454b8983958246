"""FLOPs of one token for the whole run."""

from ..training import training_flops as right

EXERCISE = "training_flops"
HINT = "These are the FLOPs of one token. How many are trained on?"
FAILS = (
    "test_6_n_d_and_8_n_d",
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
    return right(parameters, 1, convention, layers, hidden, sequence, vocab)
