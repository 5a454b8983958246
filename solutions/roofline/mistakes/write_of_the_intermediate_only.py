"""Of what lies between two kernels only the write is saved."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "The next kernel read it too."
FAILS = ("test_fusion_and_flash_move_fewer_bytes_and_spend_the_same_flops", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "fusion":
        return LeverEffect(bytes_change=effect.bytes_change / 2, flops_change=effect.flops_change)
    return effect
