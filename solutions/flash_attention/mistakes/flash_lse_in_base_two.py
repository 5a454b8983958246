"""lse is a logarithm to base 2."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = (
    "Your lse is a base-2 logarithm, or adds one to a natural one. With log2(e) in the scale the maximum is "
    "in units of log 2, and so is log2(l): multiply by ln 2 = 0.6931 to get natural logarithms."
)
FAILS = ("test_lse_is_the_natural_logarithm_of_the_whole_sum",)
SYMPTOMS = ("lse_in_base_two",)
ALSO = (
    "flash_forward_shapes",
    "flash_forward_half",
    "flash_forward_causal",
    "flash_forward_gqa",
    "efficiency",
)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "lse_in_base_two")
