"""The recomputed forward is taken as saved."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "Recomputation spends FLOPs to save bytes: which of the two changes is positive?"
FAILS = ("test_recomputation_spends_flops_to_save_bytes", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "recomputation":
        return LeverEffect(bytes_change=effect.bytes_change, flops_change=-effect.flops_change)
    return effect
