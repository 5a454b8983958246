"""Keys beyond the end count with score 0."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_shapes"
HINT = (
    "Keys beyond T_k were loaded as zeros, and their score 0 counts in the maximum and in the sum: "
    "give them the score −inf."
)
FAILS = ("test_a_key_that_is_not_there_is_not_counted",)
SYMPTOMS = ("tail_not_masked",)
ALSO = ("flash_forward_half", "flash_forward_gqa")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "tail_not_masked")
