"""Under ZeRO each GPU still does the whole optimizer step."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "Each GPU updates its own share of the parameters only: 1/gpus of the step."
FAILS = ("test_zero_shares_the_optimizer_and_offload_gives_it_away", "test_any_zero")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "zero":
        return right(technique, **{**sizes, "optimizer_bytes": 0, "optimizer_flops": 0})
    return effect
