# %% [markdown]
# # FlashAttention for one token: split the keys
#
# Section 10 of the handout, extra credit.

# %%
"""Decoding in Triton: one query token, the keys split over programs, the parts merged by their logsumexp."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)


# %%
def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Attention of one query token over a cache of keys, which `splits` programs a head share between them.

    One program a head would leave most SMs idle: split the keys, have each program return its part's normalised
    output and logsumexp, and merge the parts in a second kernel as in `merge_partials`.

    Args:
        q: shape (B, H, 1, D), fp32, fp16 or bf16; any strides.
        k, v: shape (B, H_kv, T, D), dtype of q; H is a multiple of H_kv, query head h reads head h // (H / H_kv).
        splits: parts of the keys, at least 1; the launch has `splits` programs along one of its axes, and parts
            may be empty where T is small.
        scale: of the scores; 1/sqrt(D) if None.

    Returns:
        out: shape of q, dtype of q.
        lse: shape (B, H, 1), fp32, natural logarithm. With T = 0: output 0 and lse -inf.

    Source: "Flash-Decoding for long-context inference" (Dao, Haziza, Massa, Sizov 2023).
    """
    raise NotImplementedError("write me")
