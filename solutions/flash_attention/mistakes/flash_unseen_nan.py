"""A query that sees no key gives NaN."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_causal"
HINT = (
    "A query that sees nothing has maximum −inf, and −inf − (−inf) is NaN; so is 0 / 0. Subtract 0 "
    "where the maximum is −inf, and divide by 1 where the sum is 0."
)
FAILS = ("test_a_query_that_sees_no_key_gives_zero",)
SYMPTOMS = ("unseen_nan",)
ALSO = ("flash_forward_gqa",)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "unseen_nan")
