"""exp(lse) is computed without taking the larger one out."""

import math
from typing import TYPE_CHECKING

EXERCISE = "merge_partials"
HINT = "exp(lse) is infinite above 88.7 and 0 below −104. Take the larger lse out first: exp(lse − larger)."
FAILS = (
    "test_large_lse_does_not_overflow",
    "test_any_parts_with_large_lse",
)
SYMPTOMS = ("merge_overflow",)


if TYPE_CHECKING:
    from torch import Tensor


def merge_partials(one: "tuple[Tensor, Tensor]", other: "tuple[Tensor, Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    (out_one, lse_one), (out_other, lse_other) = one, other

    sums = torch.exp(lse_one)[..., None], torch.exp(lse_other)[..., None]
    total = sums[0] + sums[1]
    empty = (lse_one == -math.inf) & (lse_other == -math.inf)
    out = (sums[0] * out_one + sums[1] * out_other) / total.masked_fill(empty[..., None], 1.0)
    return out.to(out_one.dtype), torch.log(total)[..., 0]
