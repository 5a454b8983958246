"""lse is taken as a logarithm to base two."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "lse is a natural logarithm. Where you use exp2, the scores carry log2(e) already, and lse needs "
    "it too before it is subtracted."
)
FAILS = (
    "test_gradients_are_those_of_attention",
    "test_gradients_add_up_over_all_tiles",
    "test_gradients_of_ragged_shapes",
)
SYMPTOMS = ("lse_as_base_two",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "lse_in_base_two")
