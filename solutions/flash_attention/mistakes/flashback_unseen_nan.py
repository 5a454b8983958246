"""A query that sees no key gives NaN."""

from torch import Tensor

from ._backward import run

EXERCISE = "flash_backward"
HINT = (
    "A query that sees nothing has lse = −inf, and −inf − (−inf) is NaN, which spreads to all keys of "
    "its tile. Such a row needs P = 0 throughout."
)
FAILS = ("test_a_query_that_saw_no_key_has_no_gradient",)
SYMPTOMS = ("unseen_nan",)
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
    return run(q, k, v, out, lse, grad_out, causal, scale, "unseen_nan")
