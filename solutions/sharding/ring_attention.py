# %% [markdown]
# # Ring attention: a sequence in pieces
#
# Section 7 of the handout: who holds which tokens, what goes round the ring, and how partial outputs merge.

# %%
"""Ring attention: context parallelism, where keys and values travel and queries stay."""

import math

import torch
import torch.distributed as dist
from torch import Tensor

Group = dist.ProcessGroup | None


# %% nbgrader={"grade": false, "grade_id": "sharding.zigzag_positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def zigzag_positions(tokens: int, ranks: int, rank: int) -> Tensor:
    """Which tokens of a causal sequence a rank holds, so that every rank has as much to do.

    Args:
        tokens: length T of the whole sequence, at least 2·ranks.
        ranks: how many ranks share it.
        rank: which of them, from 0.

    Returns:
        The positions, int64 and ascending: T is cut into 2·ranks chunks as `torch.tensor_split` cuts (the first
        ones hold one more where it does not divide), and a rank holds one from the front and its mirror
        image from the back, chunks `rank` and `2·ranks − 1 − rank`. 8 tokens on 2 ranks: 0, 1, 6, 7 and
        2, 3, 4, 5.

    Source: Llama 3 (Dubey et al. 2024), section 3.3.2; zhuzilin's ring-flash-attention, zigzag.
    """
    ### BEGIN SOLUTION
    chunks = torch.arange(tokens).tensor_split(2 * ranks)
    return torch.cat((chunks[rank], chunks[2 * ranks - 1 - rank]))
    ### END SOLUTION


# %% tags=["instructor"]
def _chunks(tokens: int, ranks: int, rank: int, causal: bool) -> list[Tensor]:
    """Positions of what a rank holds, in runs without a gap: two of them under causal."""
    if not causal:
        return [torch.arange(tokens).tensor_split(ranks)[rank]]
    chunks = torch.arange(tokens).tensor_split(2 * ranks)
    return [chunks[rank], chunks[2 * ranks - 1 - rank]]


def _pass_on(block: Tensor, length: int, group: Group) -> tuple[Tensor, list[dist.Work]]:
    """Send this rank's block to the next rank, and receive `length` tokens from the one before."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    came = block.new_empty(*block.shape[:-2], length, block.shape[-1])
    work = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, block, group=group, group_peer=(rank + 1) % ranks),
            dist.P2POp(dist.irecv, came, group=group, group_peer=(rank - 1) % ranks),
        ]
    )
    return came, work


def _partial(
    q: Tensor, k: Tensor, v: Tensor, own: Tensor, theirs: Tensor, causal: bool
) -> tuple[Tensor, Tensor]:
    """(out, lse) over some keys, in fp32; every query sees at least one of them."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal and theirs[-1] > own[0]:
        scores = scores.masked_fill(theirs > own[:, None], -math.inf)
    lse = scores.logsumexp(-1)
    return torch.exp(scores - lse[..., None]) @ v, lse


# %% nbgrader={"grade": false, "grade_id": "sharding.ring_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Attention over a sequence of which every rank holds a part: keys and values go round, queries stay.

    Args:
        q, k, v: this rank's tokens, each (..., T of this rank, D), fp32 or bf16. Which tokens these are:
            without causal, `torch.arange(tokens).tensor_split(n)[rank]`, contiguous;
            with causal, `zigzag_positions(tokens, n, rank)`.
            Ranks need not hold equally many; from `tokens` each knows how many come from the others.
        tokens: length T of the whole sequence, at least 2·n.
        group: the n ranks that share the sequence, None for the default group.
        causal: a query sees the keys at its own position in the whole sequence and before it.

    Returns:
        (out, lse) for this rank's queries over all T keys: out = softmax(Q·Kᵀ/√D)·V, (..., T of this rank, D) in
        the format of q; lse = log Σ exp(Q·Kᵀ/√D), (..., T of this rank) in fp32. Scores, softmax and the merging
        of partial results are in fp32. A backward pass is not asked for.

    Communication: send and receive with the two neighbours on the ring and nothing else. Keys and values make n − 1
    hops, so that all ranks together send (n − 1)·2·(elements of all of K) elements, and not one more. Every
    rank has to send before its receive can end: isend and irecv, or batch_isend_irecv; if all ranks wait
    in a blocking send, none ever gets on. With one rank there is nobody to send to.

    Work and memory: scores exist for one block of keys at a time, never for the whole sequence. With causal,
    chunks of keys that lie wholly after a chunk of queries are not multiplied: a rank computes 3 pairs of
    chunks with its own keys and 2 with those of each other rank, 2n + 1 of 4n; one more, its own four under one
    mask, is accepted. So every rank has as much to do, which is what zig-zag is for.

    Source: Ring Attention (Liu et al. 2023), section 3; FlashAttention-2 (Dao 2023), section 3.1.1, for
    merging; Striped Attention (Brandon et al. 2023), section 2, for what is wrong with contiguous and causal.
    """
    ### BEGIN SOLUTION
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own = _chunks(tokens, ranks, rank, causal)
    bounds = [len(each) for each in own]
    queries = [each.float() for each in q.split(bounds, -2)]
    out = [torch.zeros_like(each) for each in queries]
    lse = [each.new_full(each.shape[:-1], -math.inf) for each in queries]
    block = torch.stack((k, v)).contiguous()
    for hop in range(ranks):
        holder = (rank - hop) % ranks
        theirs = _chunks(tokens, ranks, holder, causal)
        work: list[dist.Work] = []
        if hop < ranks - 1:  # what comes next travels while this is computed
            length = sum(map(len, _chunks(tokens, ranks, (holder - 1) % ranks, causal)))
            came, work = _pass_on(block, length, group)
        for place, keys in zip(theirs, block.float().split([len(each) for each in theirs], -2), strict=True):
            for mine, positions in enumerate(own):
                if causal and place[0] > positions[-1]:
                    continue
                part, part_lse = _partial(queries[mine], keys[0], keys[1], positions, place, causal)
                merged = torch.logaddexp(lse[mine], part_lse)
                out[mine] = (
                    torch.exp(lse[mine] - merged)[..., None] * out[mine]
                    + torch.exp(part_lse - merged)[..., None] * part
                )
                lse[mine] = merged
        for each in work:
            each.wait()
        if work:
            block = came
    return torch.cat(out, -2).to(q.dtype), torch.cat(lse, -1)
    ### END SOLUTION
