"""Programs of different keys add to dQ."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "Several programs load, increase and store the same rows of dQ: on a GPU they overwrite each "
    "other. Let a program own what it writes, in a kernel of its own for dQ, or use atomics."
)
FAILS = ("test_gradients_add_up_over_all_tiles",)
SYMPTOMS = ("kernel.race",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "dq_added_without_atomics")
