"""Honest: programs that take tiles from an atomic counter; descriptors, padded inputs, inline PTX for exp2.

Seen: graders that took atomics for a race, and padding for a copy.
Passes because: values are compared with a tolerance that has a reason, not bit by bit.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, whole
from tests.adversarial.honest_flash import HEAD

HONEST = "honest_persistent"

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

VARIANTS = (Variant("persistent", whole(HEAD + PERSISTENT), Expected(("passed",), 20), FORWARD, takes_s=25, slow=True),)
