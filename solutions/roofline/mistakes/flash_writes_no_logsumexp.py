"""The logsumexp that flash writes is forgotten."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "Flash writes one number more for each query and head, for the backward pass: the logsumexp."
FAILS = ("test_fusion_and_flash_move_fewer_bytes_and_spend_the_same_flops", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    if technique == "flash":
        return right(technique, **{**sizes, "logsumexp_bytes": 0})
    return right(technique, **sizes)
