"""dS lacks the factor P."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "Your dS is dP − delta. Through a softmax a score matters as much as it has weight: the factor P "
    "is missing."
)
FAILS = (
    "test_gradients_are_those_of_attention",
    "test_gradients_add_up_over_all_tiles",
    "test_gradients_of_ragged_shapes",
)
SYMPTOMS = ("p_missing",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "p_missing")
