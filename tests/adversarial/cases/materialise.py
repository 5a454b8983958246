"""Writes the T × T scores to memory in one kernel, normalises them in a second, and calls it flash.

Seen: "flash" kernels whose memory grew with T squared.
Stopped by: nothing where attention is asked for: the values are right and kernels compute them. Where it must be lean,
the temporary and the bytes that are moved are measured.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import EFFICIENCY, whole

ATTACK = "materialise"

FORWARD_PY = '''
import math

import torch
import triton
import triton.language as tl


@triton.jit
def products(q_ptr, k_ptr, s_ptr, T, scale, D: tl.constexpr, TILE: tl.constexpr):
    head = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    cols = tl.program_id(1) * TILE + tl.arange(0, TILE)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + head * T * D + rows[:, None] * D + dims[None, :])
    k = tl.load(k_ptr + head * T * D + cols[None, :] * D + dims[:, None])
    tl.store(s_ptr + head * T * T + rows[:, None] * T + cols[None, :], tl.dot(q, k) * scale)


@triton.jit
def weighted(s_ptr, v_ptr, out_ptr, lse_ptr, T: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * 16 + tl.arange(0, 16)
    cols, dims = tl.arange(0, T), tl.arange(0, D)
    s = tl.load(s_ptr + head * T * T + rows[:, None] * T + cols[None, :])
    if CAUSAL:
        s = tl.where(rows[:, None] >= cols[None, :], s, -float("inf"))
    top = tl.max(s, 1)
    p = tl.exp(s - top[:, None])
    total = tl.sum(p, 1)
    v = tl.load(v_ptr + head * T * D + cols[:, None] * D + dims[None, :])
    out = tl.dot(p.to(v.dtype), v) / total[:, None]
    tl.store(out_ptr + head * T * D + rows[:, None] * D + dims[None, :], out.to(out_ptr.dtype.element_ty))
    tl.store(lse_ptr + head * T + rows, top + tl.log(total))


def flash_forward(q, k, v, causal=False, scale=None):
    """T a power of 2 and as many heads of keys as of queries."""
    tokens, width = q.shape[-2:]
    heads = q.numel() // (tokens * width)
    if k.shape != q.shape:
        raise ValueError("as many heads and keys as queries")
    scores = torch.empty((heads, tokens, tokens), dtype=torch.float32, device=q.device)
    out, lse = torch.empty_like(q), torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    factor = 1 / math.sqrt(width) if scale is None else scale
    tiles = triton.cdiv(tokens, 64)
    products[(tiles, tiles, heads)](q, k, scores, tokens, factor, D=width, TILE=64)
    weighted[(triton.cdiv(tokens, 16), heads)](scores, v, out, lse, T=tokens, D=width, CAUSAL=causal)
    return out, lse
'''

# It does attention's FLOPs on tensor cores and spills nothing: 3 of the weight of 16.
EARNED = Expected(points=1.875, says="T × T scores")

VARIANTS = (Variant("in_two_kernels", whole(FORWARD_PY), EARNED, EFFICIENCY, takes_s=60, slow=True),)
