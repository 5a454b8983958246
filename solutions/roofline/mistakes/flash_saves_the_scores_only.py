"""Flash is taken to save the scores and not the probabilities."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = (
    "Naive attention writes and reads two matrices of this size: the scores, and what softmax makes of them."
)
FAILS = ("test_fusion_and_flash_move_fewer_bytes_and_spend_the_same_flops", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    if technique == "flash":
        saved = 2 * sizes["score_bytes"]
        return LeverEffect(bytes_change=effect.bytes_change + saved, flops_change=effect.flops_change)
    return effect
