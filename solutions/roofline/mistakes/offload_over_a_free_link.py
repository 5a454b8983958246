"""What goes over the link to the host is not counted."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "The host needs the gradients, and the card the new weights: both go over the link."
FAILS = ("test_zero_shares_the_optimizer_and_offload_gives_it_away", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "offload":
        return right(technique, **{**sizes, "gradient_bytes": 0, "weight_bytes": 0})
    return effect
