"""The running sum is not rescaled."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

EXERCISE = "online_softmax"
HINT = (
    "Your sum keeps what earlier blocks added relative to an older, smaller maximum. Multiply it by "
    "exp(old − new) whenever the maximum grows."
)
FAILS = (
    "test_the_sum_is_rescaled_when_the_maximum_grows",
    "test_any_stream",
)
SYMPTOMS = ("online_not_rescaled",)


if TYPE_CHECKING:
    from torch import Tensor


def online_softmax(blocks: "Iterable[Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    largest = total = None
    for block in blocks:
        if largest is None:
            largest = block.new_full(block.shape[:1], -math.inf)
            total = block.new_zeros(block.shape[:1])

        largest = torch.maximum(largest, block.amax(-1))
        subtracted = largest.masked_fill(largest == -math.inf, 0.0)
        total = total + torch.exp(block - subtracted[:, None]).sum(-1)
    return largest, total
