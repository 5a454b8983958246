"""Honest: a kernel that an autotuner picks from five configurations.

Seen: graders whose first call timed out, or which saw five launches where they wanted one.
Passes because: every configuration is run and must be right.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, whole
from tests.adversarial.honest_flash import HEAD

HONEST = "honest_autotune"

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

VARIANTS = (Variant("autotuned", whole(HEAD + TUNED), Expected(("passed",), 20), FORWARD, takes_s=60, slow=True),)
