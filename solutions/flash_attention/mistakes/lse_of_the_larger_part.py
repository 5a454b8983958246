"""The merged lse is the larger one."""

from typing import TYPE_CHECKING

from ..softmax import merge_partials as right

EXERCISE = "merge_partials"
HINT = (
    "Your output is right, and your lse is that of the larger part. The sum over both is larger: "
    "log(exp(lse₁) + exp(lse₂))."
)
FAILS = (
    "test_two_parts_give_the_whole",
    "test_parts_merge_in_any_order",
    "test_any_parts_in_any_order",
)
SYMPTOMS = ("merge_lse_larger",)


if TYPE_CHECKING:
    from torch import Tensor


def merge_partials(one: "tuple[Tensor, Tensor]", other: "tuple[Tensor, Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    out, _ = right(one, other)
    return out, torch.maximum(one[1], other[1])
