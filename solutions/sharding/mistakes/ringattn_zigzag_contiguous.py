"""A rank's positions are one contiguous stretch."""

import torch
from torch import Tensor

EXERCISE = "ring_attention"
HINT = "Your positions are contiguous: under causal the last rank would see all keys and the first one hardly any. Cut into 2n chunks, and give each rank one from either end."
FAILS = ("test_zigzag_gives_every_rank_a_chunk_from_the_front_and_one_from_the_back", "test_any_zigzag")


def zigzag_positions(tokens: int, ranks: int, rank: int) -> Tensor:
    return torch.arange(tokens).tensor_split(ranks)[rank]
