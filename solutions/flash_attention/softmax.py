# %% [markdown]
# # Softmax in pieces
#
# Section 3 of the handout: a softmax that nothing overflows, that sees its row in blocks, and whose parts merge.

# %%
"""The softmax that FlashAttention needs: safe, online over blocks, and merged from parts."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor


# %% nbgrader={"grade": false, "grade_id": "flash_attention.safe_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def safe_softmax(x: Tensor) -> Tensor:
    """Softmax over the last dimension that no finite score can overflow.

    Args:
        x: scores, of shape (..., n) with n at least 1, in fp16, bf16, fp32 or fp64. A masked score is −inf;
            +inf and NaN do not occur.

    Returns:
        exp(x) / Σ exp(x) over the last dimension, in the shape and format of x. It is computed in fp32 at
        least. Where a whole row is −inf, nothing may be looked at: the row is all zeros.

    Write it with max, exp and sum: torch.softmax is what you are writing.
    """
    ### BEGIN SOLUTION
    scores = x.to(torch.promote_types(x.dtype, torch.float32))
    largest = scores.amax(-1, keepdim=True)
    # −inf − (−inf) is NaN: a row that is masked throughout subtracts 0.
    exponentials = torch.exp(scores - largest.masked_fill(largest == -math.inf, 0.0))
    total = exponentials.sum(-1, keepdim=True)
    return (exponentials / total.masked_fill(total == 0, 1.0)).to(x.dtype)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "flash_attention.online_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def online_softmax(blocks: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    """The two statistics of a softmax, from scores that come block by block and are gone afterwards.

    Args:
        blocks: at least one block of scores, each of shape (rows, width), the next columns of the same rows. The
            last may be narrower. Each can be read once: it lies in a buffer that the next one overwrites, as
            a tile does on the chip. So take them one by one in a `for` loop, and keep nothing that grows
            with their number. A masked score is −inf.

    Returns:
        (m, l), both of shape (rows,) and in fp32 (fp64 where the blocks are): m is the largest score of the
        row, and l is Σ exp(score − m) over all of its scores. The softmax of a score is then
        exp(score − m) / l. A row that is −inf throughout has m = −inf and l = 0, and blocks of a row may be
        −inf throughout though others are not.

    Source: Milakov and Gimelshein 2018 (arXiv 1805.02867), algorithm 3.
    """
    ### BEGIN SOLUTION
    largest = total = None
    for block in blocks:
        scores = block.to(torch.promote_types(block.dtype, torch.float32))
        if largest is None:
            largest = scores.new_full(scores.shape[:1], -math.inf)
            total = scores.new_zeros(scores.shape[:1])
        grown = torch.maximum(largest, scores.amax(-1))
        subtracted = grown.masked_fill(grown == -math.inf, 0.0)
        total = total * torch.exp(largest - subtracted) + torch.exp(scores - subtracted[:, None]).sum(-1)
        largest = grown
    return largest, total
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "flash_attention.merge_partials", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_partials(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Attention over all keys, from attention over some of them and attention over the others.

    Args:
        one, other: (out, lse) of the same queries over two sets of keys that have none in common: out is
            softmax(S)·V over the part's own keys, of shape (..., T, D); lse, (..., T) in fp32, is
            log Σ exp(S) over them, so it may be any finite number, however large. A row that saw no key in a
            part has out 0 and lse −inf there.

    Returns:
        (out, lse) over both sets of keys, in the shapes of the parts, out in their format (computed in fp32 at
        least) and lse in fp32. A row that saw no key in either part has out 0 and lse −inf. Merging is
        associative and does not depend on the order, so any number of parts can be merged pair by pair.

    Source: FlashAttention-2 (Dao 2023), section 3.1.1; Flash-Decoding (Dao et al. 2023).
    """
    ### BEGIN SOLUTION
    (out_one, lse_one), (out_other, lse_other) = one, other
    lse = torch.logaddexp(lse_one, lse_other)
    subtracted = lse.masked_fill(lse == -math.inf, 0.0)
    weight_one = torch.exp(lse_one - subtracted)[..., None]
    weight_other = torch.exp(lse_other - subtracted)[..., None]
    return (weight_one * out_one + weight_other * out_other).to(out_one.dtype), lse
    ### END SOLUTION
