"""Recomputation costs no FLOPs."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "The backward has to compute the activations again. What does that cost?"
FAILS = ("test_recomputation_spends_flops_to_save_bytes", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "recomputation":
        return LeverEffect(bytes_change=effect.bytes_change, flops_change=0)
    return effect
