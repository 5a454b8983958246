"""The last, partial tile of keys is dropped."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_shapes"
HINT = (
    "Your loop goes over T_k // tile tiles, and the keys of the last, partial one are never seen: round up."
)
FAILS = ("test_rows_beyond_the_end_are_not_touched",)
SYMPTOMS = ("tail_dropped",)
ALSO = ("flash_forward_half", "flash_forward_gqa")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "tail_dropped")
