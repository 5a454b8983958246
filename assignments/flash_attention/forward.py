# %% [markdown]
# # FlashAttention, forward
#
# Sections 7 and 9 of the handout: one function, seven exercises. Begin with the square fp32 case and keep it passing
# while you generalise.

# %%
"""FlashAttention's forward pass in Triton: query tiles stay on chip, keys and values stream by, T×T never exists."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)
"""exp(x) = exp2(x · log2 e): the hardware's exponential is exp2."""


# %%
def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Attention softmax(q kᵀ · scale) v by tiles, in a Triton kernel of your own, and its logsumexp.

    Write the kernel above this function. No temporary of T_q × T_k elements, no attention of a library.

    Args:
        q: shape (..., T_q, D), fp32, fp16 or bf16; none, one or more leading dimensions; any strides.
        k, v: shape (..., T_k, D), dtype of q. With three dimensions or more the last but two are heads, and k and v
            may have fewer: query head h reads head h // (H / H_kv), as in grouped-query attention.
        causal: query i sees key j only if j <= i + T_k - T_q, aligned at the bottom right.
        scale: of the scores; 1/sqrt(D) if None.

    Returns:
        out: shape of q, dtype of q; accumulated in fp32.
        lse: shape (..., T_q), fp32: log of the sum of exp(scores), natural logarithm, scale included.
        A query that sees no key has output 0 and lse -inf.

    Source: Dao et al. 2022 (arXiv 2205.14135), algorithm 1; Dao 2023 (arXiv 2307.08691), algorithm 1.
    """
    raise NotImplementedError("write me")
