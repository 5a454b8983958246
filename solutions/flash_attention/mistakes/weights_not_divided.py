"""Weights relative to the larger lse are not divided by their sum."""

from typing import TYPE_CHECKING

from ..softmax import merge_partials as right

EXERCISE = "merge_partials"
HINT = (
    "Your weights are exp(lse − larger lse): the larger part has 1, and both together more. Divide by "
    "their sum."
)
FAILS = (
    "test_two_parts_give_the_whole",
    "test_parts_merge_in_any_order",
    "test_half_precision_parts_keep_their_format",
    "test_any_parts_in_any_order",
)
SYMPTOMS = ("merge_not_divided",)


if TYPE_CHECKING:
    from torch import Tensor


def merge_partials(one: "tuple[Tensor, Tensor]", other: "tuple[Tensor, Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    (out_one, lse_one), (out_other, lse_other) = one, other

    _, lse = right(one, other)
    larger = torch.maximum(lse_one, lse_other)
    weights = [
        torch.exp((each - larger).nan_to_num(nan=float("-inf")))[..., None] for each in (lse_one, lse_other)
    ]
    return (weights[0] * out_one + weights[1] * out_other).to(out_one.dtype), lse
