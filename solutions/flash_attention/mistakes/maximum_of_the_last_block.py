"""Each block's maximum replaces the running one."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

EXERCISE = "online_softmax"
HINT = (
    "Your maximum is that of the last block. It is the largest of all: max(old, block's), and it never falls."
)
FAILS = (
    "test_the_maximum_never_falls",
    "test_any_stream",
)
SYMPTOMS = ("online_maximum_of_last_block",)


if TYPE_CHECKING:
    from torch import Tensor


def online_softmax(blocks: "Iterable[Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    largest = total = None
    for block in blocks:
        if largest is None:
            largest = block.new_full(block.shape[:1], -math.inf)
            total = block.new_zeros(block.shape[:1])

        newest = block.amax(-1)
        subtracted = newest.masked_fill(newest == -math.inf, 0.0)
        total = total * torch.exp(largest - subtracted) + torch.exp(block - subtracted[:, None]).sum(-1)
        largest = newest
    return largest, total
