"""Brings a CS336 Function to `flash_forward`: leading dimensions in one, the scale into q, L from what it saved."""

import math
from types import SimpleNamespace

from einops import rearrange

from .student import FlashAttentionTriton


def flash_forward(q, k, v, causal=False, scale=None):
    """Out and lse of the Function's forward pass."""
    saved = SimpleNamespace(save_for_backward=lambda *tensors: vars(saved).update(tensors=tensors))
    factor = 1.0 if scale is None else scale * math.sqrt(q.shape[-1])
    flat = [rearrange(x, "... t d -> (...) t d").contiguous() for x in (q * factor, k, v)]
    out = FlashAttentionTriton.forward(saved, *flat, causal)
    (lse,) = (x for x in saved.tensors if x.ndim == 2)
    return out.reshape(q.shape), lse.reshape(q.shape[:-1])
