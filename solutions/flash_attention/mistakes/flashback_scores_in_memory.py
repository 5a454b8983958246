"""P is written to memory."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "You write P, all T × T of it, to memory. That is what flash avoids: recompute a tile of it where "
    "you need it."
)
FAILS = ("test_kernels_do_the_backward_pass",)
SYMPTOMS = ("scores_in_memory",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "scores_in_memory")
