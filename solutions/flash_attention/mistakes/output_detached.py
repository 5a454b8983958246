"""apply runs the forward pass without a Function."""

from typing import TYPE_CHECKING

from ..tiled import TiledAttention as right

EXERCISE = "tiled_backward"
HINT = (
    "The output needs no gradient: forward has to be the static method of an autograd.Function that is "
    "called by apply."
)
FAILS = (
    "test_autograd_goes_through_the_function",
    "test_the_function_keeps_no_matrix",
    "test_any_pass_through_the_function",
)
SYMPTOMS = ("function_detached",)


if TYPE_CHECKING:
    from torch import Tensor


class _Wrong:
    @staticmethod
    def apply(q, k, v, causal=False):
        return right.apply(q.detach(), k.detach(), v.detach(), causal)


def TiledAttention(*inputs: "Tensor") -> "Tensor":
    raise TypeError("call TiledAttention.apply")


TiledAttention.apply = _Wrong.apply
