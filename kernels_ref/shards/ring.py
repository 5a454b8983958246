"""Ring attention: who holds which tokens, and what usual mistakes make of it.

torch is imported by the first call, so that tests can import this module where there is none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from kernels_ref.shards.case import Suspects


def positions(tokens: int, ranks: int, causal: bool) -> list[list[int]]:
    """Which tokens each rank holds in ring attention: contiguous, or zig-zag under causal. Lists, without torch."""

    def cut(parts: int) -> list[list[int]]:
        small, larger = divmod(tokens, parts)
        starts = [part * small + min(part, larger) for part in range(parts + 1)]
        return [list(range(*pair)) for pair in itertools.pairwise(starts)]

    if not causal:
        return cut(ranks)
    chunks = cut(2 * ranks)
    return [chunks[rank] + chunks[-1 - rank] for rank in range(ranks)]


def ring_attention_suspects(
    q: Tensor, k: Tensor, v: Tensor, ranks: int, rank: int, causal: bool
) -> Mapping[str, Suspects]:
    """What usual mistakes give for one rank's queries; q, k and v are whole, in fp64. By "out" and "lse"."""
    import torch

    tokens = q.shape[-2]
    held = positions(tokens, ranks, causal)
    own = torch.tensor(held[rank])
    contiguous = positions(tokens, ranks, False)

    def over(
        keys: Sequence[int], own_at: Tensor = own, keys_at: Sequence[int] | None = None, masked: bool = causal
    ) -> tuple[Tensor, Tensor]:
        """Attention of the rank's queries over some keys, as if they were at other positions."""
        at = torch.tensor(list(keys if keys_at is None else keys_at))
        scores = q[..., own, :] @ k[..., list(keys), :].mT / q.shape[-1] ** 0.5
        if masked:
            scores = scores.masked_fill(at > own_at[:, None], -torch.inf)
        lse = scores.logsumexp(-1)
        weights = torch.exp(scores - lse.masked_fill(lse == -torch.inf, 0.0)[..., None])
        return weights @ v[..., list(keys), :], lse

    order = [(rank - hop) % ranks for hop in range(ranks)]
    every = [key for holder in order for key in held[holder]]

    def parts() -> list[tuple[Tensor, Tensor]]:
        return [over(held[holder]) for holder in order]

    def without(holders: Sequence[int]) -> tuple[Tensor, Tensor]:
        return over([key for holder in order if holder not in holders for key in held[holder]])

    def local() -> tuple[Tensor, Tensor]:
        """Each block masked as if its first key and the rank's first query were at one position."""
        scores, values = [], []
        for holder in order:
            block = q[..., own, :] @ k[..., held[holder], :].mT / q.shape[-1] ** 0.5
            later = torch.arange(len(held[holder])) > torch.arange(len(own))[:, None]
            scores.append(block.masked_fill(later, -torch.inf))
            values.append(v[..., held[holder], :])
        joined = torch.cat(scores, -1)
        return joined.softmax(-1) @ torch.cat(values, -2), joined.logsumexp(-1)

    def as_contiguous() -> tuple[Tensor, Tensor]:
        at = [place for holder in order for place in contiguous[holder][: len(held[holder])]]
        length = min(len(contiguous[rank]), len(own))
        if len(at) != len(every) or length != len(own):  # lengths differ: the mistake would have crashed
            return torch.full_like(q[..., own, :], torch.nan), torch.full_like(q[..., own, 0], torch.nan)
        return over(every, torch.tensor(contiguous[rank]), at)

    def pick(part: int, pair: Callable[[], tuple[Tensor, Tensor]]) -> Callable[[], Tensor]:
        return lambda: pair()[part]

    def averaged() -> Tensor:
        return torch.stack([each[0] for each in parts()]).mean(0)

    def added() -> Tensor:
        return torch.stack([each[0] for each in parts()]).sum(0)

    def largest() -> Tensor:
        return torch.stack([each[1] for each in parts()]).amax(0)

    shared: dict[str, Callable[[], tuple[Tensor, Tensor]]] = {
        "ring.last_hop_missing": lambda: without([order[-1]]),
        "ring.own_block_missing": lambda: without([rank]),
        "ring.own_block_only": lambda: over(held[rank]),
        "ring.not_scaled": lambda: _unscaled(q, k, v, own, causal),
    }
    if causal:
        shared["ring.causal_by_local_positions"] = local
        shared["ring.contiguous_positions"] = as_contiguous
        shared["ring.causal_ignored"] = lambda: over(every, masked=False)
    return {
        "out": {name: pick(0, pair) for name, pair in shared.items()}
        | {"ring.averaged": averaged, "ring.added": added},
        "lse": {name: pick(1, pair) for name, pair in shared.items()} | {"ring.lse_of_largest_part": largest},
    }


def _unscaled(q: Tensor, k: Tensor, v: Tensor, own: Tensor, causal: bool) -> tuple[Tensor, Tensor]:
    import torch

    scores = q[..., own, :] @ k.mT
    if causal:
        scores = scores.masked_fill(torch.arange(k.shape[-2]) > own[:, None], -torch.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def cut_by_positions(tensor: Tensor, ranks: int, causal: bool) -> list[Tensor]:
    """What each rank holds of q, k or v, (..., T, D)."""
    return [tensor[..., held, :].contiguous() for held in positions(tensor.shape[-2], ranks, causal)]
