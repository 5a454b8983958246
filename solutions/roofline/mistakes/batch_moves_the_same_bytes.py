"""A larger batch is taken to change nothing."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "The step reads as many bytes as before, for more tokens. What is that for each token?"
FAILS = ("test_narrower_weights_and_larger_batches_read_weights_less", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "larger_batch":
        return LeverEffect(bytes_change=0, flops_change=0)
    return effect
