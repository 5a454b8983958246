"""Honest: keys in two parts and a kernel that combines them, in workspaces that are cached by shape.

Seen: graders that took a cache for replay, and a second kernel for a decoy.
Passes because: what counts are values, and that kernels did the products; how they are arranged is the student's.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, whole
from tests.adversarial.honest_flash import HEAD

HONEST = "honest_split_keys"

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

VARIANTS = (Variant("split_and_combined", whole(HEAD + SPLIT), Expected(("passed",), 20), FORWARD, takes_s=20, slow=True),)
