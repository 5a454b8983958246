"""The maximum is missing from lse."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = "Your lse is log(l) alone. l is a sum relative to the maximum: lse = m + log(l)."
FAILS = ("test_lse_is_the_natural_logarithm_of_the_whole_sum",)
SYMPTOMS = ("lse_without_maximum",)
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
    return run(q, k, v, causal, scale, "lse_without_maximum")
