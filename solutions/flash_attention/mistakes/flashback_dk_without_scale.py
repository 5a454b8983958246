"""dK lacks the scale."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "Your dK lacks the factor `scale`: the scores are scale · QKᵀ, so their gradient by K has it as "
    "well, and so has dQ."
)
FAILS = (
    "test_gradients_are_those_of_attention",
    "test_gradients_add_up_over_all_tiles",
    "test_gradients_of_ragged_shapes",
)
SYMPTOMS = ("dk_without_scale",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "dk_without_scale")
