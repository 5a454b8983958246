"""The first tile of queries is rounded up."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "Your kernel of the keys begins with the first whole tile of queries that sees its keys. Part of "
    "the tile before it sees some as well: round down, and leave the rest to the mask."
)
FAILS = ("test_gradients_with_the_causal_mask",)
SYMPTOMS = ("first_query_rounded_up",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "first_query_rounded_up")
