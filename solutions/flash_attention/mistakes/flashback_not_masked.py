"""The backward pass has no causal mask."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "You recompute P from all scores: the keys that the forward pass hid have weight again. Mask them "
    "in both kernels as the forward pass did."
)
FAILS = ("test_gradients_with_the_causal_mask", "test_a_query_that_saw_no_key_has_no_gradient")
SYMPTOMS = ("backward_not_masked",)
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
    return run(q, k, v, out, lse, grad_out, False, scale)
