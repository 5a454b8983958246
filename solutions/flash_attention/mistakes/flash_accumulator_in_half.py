"""The accumulator is rounded to 16 bits in every tile."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_half"
HINT = (
    "Your accumulator is rounded to 16 bits after every tile. Keep it in fp32, and convert once, when "
    "you store."
)
FAILS = ("test_sums_are_kept_in_fp32",)
SYMPTOMS = ("accumulator_in_half",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "accumulator_in_half")
