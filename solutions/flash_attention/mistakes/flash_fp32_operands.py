"""The operands of the dots are converted to fp32."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = (
    'Your dots multiply fp32, or ask for "ieee": those run on the ordinary lanes, at a fifteenth of '
    "the rate. Give tl.dot the 16-bit tiles as they are."
)
FAILS = ("test_it_fits_an_h100",)
SYMPTOMS = ("no_tensor_cores",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "fp32_operands")
