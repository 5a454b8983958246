"""Rows that are empty in both parts become NaN."""

from typing import TYPE_CHECKING

EXERCISE = "merge_partials"
HINT = "Where both lse are −inf, −inf − (−inf) is NaN. Subtract 0 there: both weights are then exp(−inf) = 0."
FAILS = (
    "test_an_empty_part_changes_nothing",
    "test_any_parts_with_large_lse",
)
SYMPTOMS = ("merge_empty_nan",)


if TYPE_CHECKING:
    from torch import Tensor


def merge_partials(one: "tuple[Tensor, Tensor]", other: "tuple[Tensor, Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    (out_one, lse_one), (out_other, lse_other) = one, other

    lse = torch.logaddexp(lse_one, lse_other)
    weights = [torch.exp(each - lse)[..., None] for each in (lse_one, lse_other)]
    return (weights[0] * out_one + weights[1] * out_other).to(out_one.dtype), lse
