"""Stage 3 is taken to move nothing more over the link."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "At stage 3 a GPU has only its share of the weights and must fetch the others once more."
FAILS = ("test_zero_shares_the_optimizer_and_offload_gives_it_away", "test_any_zero")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "zero":
        return right(technique, **{**sizes, "stage": 1})
    return effect
