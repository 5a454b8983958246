"""Tokens are dealt out to the ranks one by one."""

import torch
from torch import Tensor

EXERCISE = "ring_attention"
HINT = "Your positions are every n-th token: that is Striped Attention's placement, which balances too. Here a rank has two whole chunks, one from either end."
FAILS = ("test_zigzag_gives_every_rank_a_chunk_from_the_front_and_one_from_the_back", "test_any_zigzag")


def zigzag_positions(tokens: int, ranks: int, rank: int) -> Tensor:
    return torch.arange(rank, tokens, ranks)
