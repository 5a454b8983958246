"""The sums are rounded to 16 bits in every tile."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "You round dQ, dK or dV to 16 bits after every tile, so later contributions get lost. Keep all "
    "three sums in fp32, and convert when you store."
)
FAILS = ("test_half_precision_gradients_are_summed_in_fp32",)
SYMPTOMS = ("gradients_in_half",)
ALSO = ()


def flash_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, out, lse, grad_out, causal, scale, "sums_in_half")
