"""The two outputs are averaged."""

from typing import TYPE_CHECKING

from ..softmax import merge_partials as right

EXERCISE = "merge_partials"
HINT = (
    "The parts do not weigh the same. Each weighs exp(its lse − the merged lse): the one whose keys fit "
    "better counts more."
)
FAILS = (
    "test_two_parts_give_the_whole",
    "test_parts_merge_in_any_order",
    "test_any_parts_in_any_order",
)
SYMPTOMS = ("merge_average",)


if TYPE_CHECKING:
    from torch import Tensor


def merge_partials(one: "tuple[Tensor, Tensor]", other: "tuple[Tensor, Tensor]") -> "tuple[Tensor, Tensor]":

    _, lse = right(one, other)
    return (one[0] + other[0]) / 2, lse
