"""All blocks are collected before the first is used."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

EXERCISE = "online_softmax"
HINT = (
    "You collect the blocks first, and their buffer has been overwritten by then. Use each one before you"
    " ask for the next."
)
FAILS = (
    "test_the_sum_is_rescaled_when_the_maximum_grows",
    "test_each_block_is_read_once_and_forgotten",
    "test_any_stream",
)
SYMPTOMS = ("online_blocks_collected",)


if TYPE_CHECKING:
    from torch import Tensor


def online_softmax(blocks: "Iterable[Tensor]") -> "tuple[Tensor, Tensor]":
    import torch

    row = torch.cat(list(blocks), -1)
    largest = row.amax(-1)
    return largest, torch.exp(row - largest[:, None]).sum(-1)
