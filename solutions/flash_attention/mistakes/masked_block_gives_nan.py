"""A first block of −inf makes the sum NaN."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

EXERCISE = "online_softmax"
HINT = "While the maximum is −inf, exp(−inf − (−inf)) is NaN, and the sum stays NaN. Subtract 0 there."
FAILS = (
    "test_blocks_may_be_masked_throughout",
    "test_any_stream",
)
SYMPTOMS = ("online_masked_block_nan",)


if TYPE_CHECKING:
    from torch import Tensor


def online_softmax(blocks: "Iterable[Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    largest = total = None
    for block in blocks:
        if largest is None:
            largest = block.new_full(block.shape[:1], -math.inf)
            total = block.new_zeros(block.shape[:1])

        grown = torch.maximum(largest, block.amax(-1))
        # The first step has nothing to rescale, so only blocks of −inf go wrong.
        total = total * torch.exp((largest - grown).nan_to_num(nan=0.0, neginf=-math.inf))
        total = total + torch.exp(block - grown[:, None]).sum(-1)
        largest = grown
    return largest, total
