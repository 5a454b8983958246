"""grad_out is taken to be contiguous."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "You read grad_out as if it were contiguous. Autograd hands in what it has, transposed views too: "
    "pass its strides to the kernels."
)
FAILS = ("test_gradients_of_shared_heads_are_summed",)
SYMPTOMS = ("grad_out_strides",)
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
    plain = (0, 0, *grad_out.new_empty(grad_out.shape).stride())[-4:]
    return run(q, k, v, out, lse, grad_out, causal, scale, grad_strides=plain)
