"""dQ holds the last tile of keys only."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "Your dQ starts anew with each tile of keys, so the last one alone is left. Every tile of keys "
    "adds to it."
)
FAILS = ("test_gradients_add_up_over_all_tiles", "test_gradients_of_ragged_shapes")
SYMPTOMS = ("dq_of_last_tile",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "dq_of_last_tile")
