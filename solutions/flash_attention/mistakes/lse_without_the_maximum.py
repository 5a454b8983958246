"""The maximum that was taken out is not added to the lse again."""

from typing import TYPE_CHECKING

from ..softmax import merge_partials as right

EXERCISE = "merge_partials"
HINT = (
    "You took the larger lse out before the logarithm and did not put it back: lse = larger + log(sum of "
    "the weights)."
)
FAILS = (
    "test_two_parts_give_the_whole",
    "test_parts_merge_in_any_order",
    "test_any_parts_in_any_order",
)
SYMPTOMS = ("merge_lse_without_maximum",)


if TYPE_CHECKING:
    from torch import Tensor


def merge_partials(one: "tuple[Tensor, Tensor]", other: "tuple[Tensor, Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    out, lse = right(one, other)
    larger = torch.maximum(one[1], other[1])
    return out, torch.where(larger == -float("inf"), lse, lse - larger)
