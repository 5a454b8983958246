"""The ring as the mistakes need it: blocks of keys and values as they come, and parts merged by their lse."""

import math
from collections.abc import Callable, Iterable, Iterator

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group, _chunks, _pass_on

Part = tuple[Tensor, Tensor]


def positions(tokens: int, ranks: int, rank: int, causal: bool) -> Tensor:
    """What a rank holds."""
    return torch.cat(_chunks(tokens, ranks, rank, causal))


def blocks(
    k: Tensor, v: Tensor, tokens: int, group: Group, causal: bool, more_hops: int = 0
) -> Iterator[tuple[int, Tensor, Tensor]]:
    """(holder, k, v) of every block that comes by; `more_hops` than n − 1 of them."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    block = torch.stack((k, v))
    for hop in range(ranks):
        holder = (rank - hop) % ranks
        keys, values = block.float()
        yield holder, keys, values
        if ranks > 1 and hop < ranks - 1 + more_hops:
            block, work = _pass_on(block, len(positions(tokens, ranks, (holder - 1) % ranks, causal)), group)
            for each in work:
                each.wait()


def part(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor | None = None) -> Part:
    """(out, lse) over some keys; a query that sees none has out 0 and lse −inf."""
    scores = q.float() @ k.mT / math.sqrt(q.shape[-1])
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    lse = scores.logsumexp(-1)
    return torch.exp(scores - lse.masked_fill(lse == -math.inf, 0.0)[..., None]) @ v, lse


def later(own: Tensor, theirs: Tensor) -> Tensor:
    """Which keys a query does not see."""
    return theirs > own[:, None]


def merge(one: Part, other: Part) -> Part:
    """Two parts as one."""
    lse = torch.logaddexp(one[1], other[1])
    base = lse.masked_fill(lse == -math.inf, 0.0)
    weights = [torch.exp(each - base)[..., None] for each in (one[1], other[1])]
    return weights[0] * one[0] + weights[1] * other[0], lse


def merged(parts: Iterable[Part], like: Tensor, by: Callable[[Part, Part], Part] = merge) -> Part:
    """All parts as one, out in the format of `like`."""
    whole: Part | None = None
    for each in parts:
        whole = each if whole is None else by(whole, each)
    if whole is None:
        raise ValueError("no parts")
    return whole[0].to(like.dtype), whole[1]
