"""Honest: split keys and a combine kernel, cached workspaces, autotuning, a persistent kernel, descriptors, PTX.

Seen: graders that took a cache for replay, a second kernel for a decoy, atomics for a race, padding for a copy.
Passes because: what counts are values, and that kernels did the products; how they are arranged is the student's.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, whole

HONEST = "honest_kernels"

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
SPLIT = """

@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, acc_ptr, stat_ptr, T, scale_log2, SPLITS: tl.constexpr, D: tl.constexpr, B: tl.constexpr
):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    part, head, d = tl.program_id(1), tl.program_id(2), tl.arange(0, D)
    base = head * T * D
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < T, other=0.0)
    top = tl.full((B,), -1e30, tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for start in range(part * B, T, SPLITS * B):
        cols = start + tl.arange(0, B)
        k = tl.load(k_ptr + base + cols[None, :] * D + d[:, None], mask=cols[None, :] < T, other=0.0)
        v = tl.load(v_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < T, other=0.0)
        top, total, acc = absorb(q, k, v, cols[None, :] < T, top, total, acc, scale_log2, False)
    at = (head * SPLITS + part) * T + rows
    tl.store(acc_ptr + at[:, None] * D + d[None, :], acc, mask=rows[:, None] < T)
    tl.store(stat_ptr + at * 2, top, mask=rows < T)
    tl.store(stat_ptr + at * 2 + 1, total, mask=rows < T)


@triton.jit
def combine_kernel(acc_ptr, stat_ptr, out_ptr, lse_ptr, T, SPLITS: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    rows, head, d = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1), tl.arange(0, D)
    top = tl.full((B,), -1e30, tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for part in range(SPLITS):
        at = (head * SPLITS + part) * T + rows
        new = tl.load(stat_ptr + at * 2, mask=rows < T, other=-1e30)
        both = tl.maximum(top, new)
        old, weight = tl.exp2(top - both), tl.exp2(new - both)
        total = total * old + weight * tl.load(stat_ptr + at * 2 + 1, mask=rows < T, other=1.0)
        theirs = tl.load(acc_ptr + at[:, None] * D + d[None, :], mask=rows[:, None] < T, other=0.0)
        acc, top = acc * old[:, None] + theirs * weight[:, None], both
    at = head * T + rows
    tl.store(out_ptr + at[:, None] * D + d[None, :], acc / total[:, None], mask=rows[:, None] < T)
    tl.store(lse_ptr + at, (top + tl.log2(total)) * 0.6931471805599453, mask=rows < T)


def workspace(*shape):
    if shape not in WORKSPACES:
        WORKSPACES[shape] = torch.empty(shape, dtype=torch.float32)
    return WORKSPACES[shape]


def flash_forward(q, k, v, causal=False, scale=None):
    q3, k3, v3 = flat(q), flat(k), flat(v)
    heads, tokens, width = q3.shape
    scale = width**-0.5 if scale is None else scale
    acc, stat = workspace(heads, 2, tokens, width), workspace(heads, 2, tokens, 2)
    out, lse = torch.empty_like(q3), torch.empty((heads, tokens), dtype=torch.float32)
    part_kernel[(triton.cdiv(tokens, 64), 2, heads)](
        q3, k3, v3, acc, stat, tokens, scale * LOG2_E, SPLITS=2, D=width, B=64, num_warps=2, num_stages=5
    )
    combine_kernel[(triton.cdiv(tokens, 64), heads)](
        acc, stat, out, lse, tokens, SPLITS=2, D=width, B=64, num_warps=1
    )
    return out.view(q.shape), lse.view(q.shape[:-1])
"""
TUNED = """

CONFIGS = [
    triton.Config({"ROWS": rows, "COLS": cols}, num_warps=warps, num_stages=stages)
    for rows, cols, warps, stages in ((64, 64, 4, 2), (64, 32, 8, 3), (32, 64, 2, 4), (128, 64, 8, 1), (128, 128, 8, 7))
]


@triton.autotune(CONFIGS, key=["T", "D"])
@triton.jit
def tuned_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, T, scale_log2, D: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    head, d = tl.program_id(1), tl.arange(0, D)
    base = head * T * D
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < T, other=0.0)
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D), tl.float32)
    for start in range(0, T, COLS):
        cols = start + tl.arange(0, COLS)
        k = tl.load(k_ptr + base + cols[None, :] * D + d[:, None], mask=cols[None, :] < T, other=0.0)
        v = tl.load(v_ptr + base + cols[:, None] * D + d[None, :], mask=cols[:, None] < T, other=0.0)
        top, total, acc = absorb(q, k, v, cols[None, :] < T, top, total, acc, scale_log2, False)
    tl.store(out_ptr + base + rows[:, None] * D + d[None, :], acc / total[:, None], mask=rows[:, None] < T)
    tl.store(lse_ptr + head * T + rows, (top + tl.log2(total)) * 0.6931471805599453, mask=rows < T)


def flash_forward(q, k, v, causal=False, scale=None):
    q3, k3, v3 = flat(q), flat(k), flat(v)
    heads, tokens, width = q3.shape
    scale = width**-0.5 if scale is None else scale
    out, lse = torch.empty_like(q3), torch.empty((heads, tokens), dtype=torch.float32)
    tuned_kernel[lambda meta: (triton.cdiv(tokens, meta["ROWS"]), heads)](
        q3, k3, v3, out, lse, tokens, scale * LOG2_E, D=width
    )
    return out.view(q.shape), lse.view(q.shape[:-1])
"""
PERSISTENT = '''

@triton.jit
def persistent_kernel(
    counter_ptr, q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, heads, T, scale_log2, D: tl.constexpr, B: tl.constexpr
):
    """Programs that take one tile after another from a counter, padded inputs, descriptors, PTX for ex2."""
    tiles = heads * (T // B)
    d = tl.arange(0, D)
    q_all = tl.make_tensor_descriptor(q_ptr, shape=[heads * T, D], strides=[D, 1], block_shape=[B, D])
    v_all = tl.make_tensor_descriptor(v_ptr, shape=[heads * T, D], strides=[D, 1], block_shape=[B, D])
    tile = tl.atomic_add(counter_ptr, 1)
    while tile < tiles:
        first = (tile // (T // B)) * T
        row = first + (tile % (T // B)) * B
        q = q_all.load([row, 0])
        top = tl.full((B,), -float("inf"), tl.float32)
        total = tl.zeros((B,), tl.float32)
        acc = tl.zeros((B, D), tl.float32)
        for start in range(0, T, B):
            cols = first + start + tl.arange(0, B)
            k = tl.load(k_ptr + cols[None, :] * D + d[:, None])
            seen = tl.full((B, B), 1, tl.int1)
            top, total, acc = absorb(q, k, v_all.load([first + start, 0]), seen, top, total, acc, scale_log2, True)
        rows = row + tl.arange(0, B)
        tl.store(out_ptr + rows[:, None] * D + d[None, :], acc / total[:, None])
        tl.store(lse_ptr + rows, (top + tl.log2(total)) * 0.6931471805599453)
        tile = tl.atomic_add(counter_ptr, 1)


def flash_forward(q, k, v, causal=False, scale=None):
    tokens, width = q.shape[-2:]
    if tokens % 64:
        raise ValueError("whole tiles only")
    # One head more than there is, which nobody reads: a padded batch.
    q3, k3, v3 = (torch.nn.functional.pad(flat(x), (0, 0, 0, 0, 0, 1)) for x in (q, k, v))
    heads = q3.shape[0] - 1
    scale = width**-0.5 if scale is None else scale
    out, lse = torch.empty_like(q3[:heads]), torch.empty((heads, tokens), dtype=torch.float32)
    counter = torch.zeros(1, dtype=torch.int32)
    persistent_kernel[(3,)](
        counter, q3, k3, v3, out, lse, heads, tokens, scale * LOG2_E, D=width, B=64, num_warps=8, num_stages=1
    )
    return out.view(q.shape), lse.view(q.shape[:-1])
'''

ALL = Expected(("passed",), 20)

VARIANTS = (
    Variant("split_and_combined", whole(HEAD + SPLIT), ALL, FORWARD, takes_s=20, slow=True),
    Variant("autotuned", whole(HEAD + TUNED), ALL, FORWARD, takes_s=60, slow=True),
    Variant("persistent", whole(HEAD + PERSISTENT), ALL, FORWARD, takes_s=25, slow=True),
)
