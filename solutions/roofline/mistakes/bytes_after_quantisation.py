"""The bytes that are left, in place of the change."""

from typing import Any

from specs import DTYPE_BYTES, LeverEffect

from ..training import lever as right

EXERCISE = "lever"
HINT = "These are the bytes with the narrow weights. By how much did they change?"
FAILS = ("test_narrower_weights_and_larger_batches_read_weights_less", "test_any_lever")


def lever(technique: str, **sizes: Any) -> LeverEffect:
    if technique == "quantised_weights":
        bytes_after = sizes["parameters"] * DTYPE_BYTES[sizes["weights_after"]]
        return LeverEffect(bytes_change=bytes_after, flops_change=0)
    return right(technique, **sizes)
