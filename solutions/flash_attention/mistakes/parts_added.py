"""The two outputs are added."""

from typing import TYPE_CHECKING

from ..softmax import merge_partials as right

EXERCISE = "merge_partials"
HINT = (
    "A part's output is divided by its own sum already. Adding two of them counts twice: weigh each by "
    "its share of the whole sum."
)
FAILS = (
    "test_two_parts_give_the_whole",
    "test_parts_merge_in_any_order",
    "test_half_precision_parts_keep_their_format",
    "test_any_parts_in_any_order",
)
SYMPTOMS = ("merge_sum",)


if TYPE_CHECKING:
    from torch import Tensor


def merge_partials(one: "tuple[Tensor, Tensor]", other: "tuple[Tensor, Tensor]") -> "tuple[Tensor, Tensor]":

    _, lse = right(one, other)
    return one[0] + other[0], lse
