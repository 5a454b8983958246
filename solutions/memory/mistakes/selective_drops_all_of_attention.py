"""Selective recomputation drops the linear part of attention too."""

from specs import ActivationBytes

from ..activations import activation_bytes as right

EXERCISE = "activation_bytes"
HINT = "Selective recomputation starts again from Q, K and V, so these and the rest of the 11·s·b·h stay."
FAILS = ("test_selective_recomputation_drops_the_scores_alone", "test_any_shape_under_any_recomputation")


def activation_bytes(
    layers: int, hidden: int, heads: int, sequence: int, batch: int, recomputation: str
) -> ActivationBytes:
    got = right(layers, hidden, heads, sequence, batch, recomputation)
    if recomputation == "selective":
        return got.model_copy(update={"attention": 0})
    return got
