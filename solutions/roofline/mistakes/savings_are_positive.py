"""Every change has the other sign: savings are positive, and what is spent is negative."""

from typing import Any

from specs import LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "A change is what it is with the technique, less what it was without: savings are negative."
FAILS = (
    "test_fusion_and_flash_move_fewer_bytes_and_spend_the_same_flops",
    "test_narrower_weights_and_larger_batches_read_weights_less",
    "test_zero_shares_the_optimizer_and_offload_gives_it_away",
    "test_any_lever",
)


def lever(technique: str, **sizes: Any) -> LeverEffect:
    effect = right(technique, **sizes)
    effect = LeverEffect(bytes_change=-effect.bytes_change, flops_change=-effect.flops_change)
    return effect
