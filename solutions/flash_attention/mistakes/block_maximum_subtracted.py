"""Each block subtracts its own maximum, and the sums are added as they are."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

EXERCISE = "online_softmax"
HINT = (
    "The running maximum is right, but each block is exponentiated relative to its own. All of them must "
    "be relative to one number before they are added."
)
FAILS = (
    "test_the_sum_is_rescaled_when_the_maximum_grows",
    "test_the_maximum_never_falls",
    "test_any_stream",
)
SYMPTOMS = ("online_block_maximum_subtracted",)


if TYPE_CHECKING:
    from torch import Tensor


def online_softmax(blocks: "Iterable[Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    largest = total = None
    for block in blocks:
        if largest is None:
            largest = block.new_full(block.shape[:1], -math.inf)
            total = block.new_zeros(block.shape[:1])

        own = block.amax(-1)
        subtracted = own.masked_fill(own == -math.inf, 0.0)
        total = total + torch.exp(block - subtracted[:, None]).sum(-1)
        largest = torch.maximum(largest, own)
    return largest, total
