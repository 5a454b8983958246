"""lse has the format of q."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_half"
HINT = (
    "Your lse has the format of q. An lse of a few hundred loses all its fraction in 16 bits: it is "
    "fp32 whatever the inputs are."
)
FAILS = ("test_half_precision_gives_half_precision_and_an_lse_in_fp32",)
SYMPTOMS = ("lse_in_half",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    out, lse = run(q, k, v, causal, scale)
    return out, lse.to(q.dtype)
