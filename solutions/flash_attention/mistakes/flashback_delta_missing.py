"""dS lacks delta."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "Your dS is P · dP. A softmax's gradient subtracts from dP each row's own mean of it, weighted by "
    "P: that is delta, which is known before the loop."
)
FAILS = (
    "test_gradients_are_those_of_attention",
    "test_gradients_add_up_over_all_tiles",
    "test_gradients_of_ragged_shapes",
)
SYMPTOMS = ("delta_missing",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "delta_missing")
