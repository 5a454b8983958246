"""What honest flash kernels of several cases begin with: one tile of keys, absorbed."""

HEAD = '''
import math

import torch
import triton
import triton.language as tl

LOG2_E = 1.4426950408889634
WORKSPACES = {}


@triton.jit
def absorb(q, k, v, seen, top, total, acc, scale_log2, PTX: tl.constexpr):
    """One tile of keys; the exponentials are base 2, and log2 e is in the scale."""
    s = tl.where(seen, tl.dot(q, k, input_precision="ieee") * scale_log2, -float("inf"))
    new = tl.maximum(top, tl.max(s, 1))
    if PTX:
        p = tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [s - new[:, None]], dtype=tl.float32, is_pure=True, pack=1
        )
    else:
        p = tl.exp2(s - new[:, None])
    shrink = tl.exp2(top - new)
    return new, total * shrink + tl.sum(p, 1), tl.dot(p, v, acc * shrink[:, None], input_precision="ieee")


def flat(x):
    return x.reshape(-1, *x.shape[-2:]).contiguous()
'''
