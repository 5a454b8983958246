"""Selective recomputation is taken for none."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = (
    "Selective recomputation computes something again in backward instead of keeping it: the term that is "
    "quadratic in s."
)
FAILS = ("test_selective_recomputation_drops_the_scores_alone", "test_any_shape_under_any_recomputation")


def activation_bytes(
    layers: int, hidden: int, heads: int, sequence: int, batch: int, recomputation: str
) -> ActivationBytes:
    kept = "none" if recomputation == "selective" else recomputation
    return right(layers, hidden, heads, sequence, batch, kept)
