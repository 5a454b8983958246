"""PyTorch multiplies, and kernels copy the results."""

from torch import Tensor

from . import flashback_library
from ._norms import copied

EXERCISE = "flash_backward"
HINT = (
    "Kernels run, but the products are computed by PyTorch: all five of them belong into your "
    "kernels, tile by tile."
)
FAILS = ("test_kernels_do_the_backward_pass",)
SYMPTOMS = ("backward_beside_the_kernels", "kernel.library")
ALSO = ("performance",)


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
    dq, dk, dv = flashback_library.flash_backward(q, k, v, out, lse, grad_out, causal, scale)
    return copied(dq), copied(dk), copied(dv)
