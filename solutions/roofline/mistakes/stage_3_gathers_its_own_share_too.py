"""All weights come over the link at stage 3, the GPU's own share too."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "A GPU holds 1/gpus of the weights already, and does not send them to itself."
FAILS = ("test_zero_shares_the_optimizer_and_offload_gives_it_away", "test_any_zero")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "zero" and sizes["stage"] == 3:
        own = sizes["weight_bytes"] / sizes["gpus"]
        return LeverEffect(bytes_change=effect.bytes_change + own, flops_change=effect.flops_change)
    return effect
