"""The output is fp32 whatever the inputs are."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_half"
HINT = "Your output is fp32. It has the format of q: allocate it so, and convert before you store."
FAILS = ("test_half_precision_gives_half_precision_and_an_lse_in_fp32",)
SYMPTOMS = ("out_in_fp32",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    out, lse = run(q, k, v, causal, scale)
    return out.float(), lse
