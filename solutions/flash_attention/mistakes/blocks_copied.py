"""Every block is copied and kept until the last one has come."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

EXERCISE = "online_softmax"
HINT = (
    "You keep a copy of every block: that is the whole row. Two numbers a row are all that may be carried"
    " from block to block."
)
FAILS = (
    "test_each_block_is_read_once_and_forgotten",
    "test_any_stream_is_forgotten",
)
SYMPTOMS = ("online_blocks_copied",)


if TYPE_CHECKING:
    from torch import Tensor


def online_softmax(blocks: "Iterable[Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    row = torch.cat([block.clone() for block in blocks], -1)
    largest = row.amax(-1)
    subtracted = largest.masked_fill(largest == -math.inf, 0.0)
    return largest, torch.exp(row - subtracted[:, None]).sum(-1)
