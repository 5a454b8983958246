"""Times the recorder against the mended interpreter alone on FlashAttention: T=512, D=64, two heads, 64×64 tiles.

Run with TRITON_INTERPRET=1; prints the least processor times and their ratios. Measures; decides nothing.
"""

import functools
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import triton
import triton.language as tl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.kernels import recorder

ROUNDS = 4


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, T, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    head, tile = tl.program_id(1), tl.program_id(0)
    rows, dims = tile * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    start = head * T * D
    q = tl.load(q_ptr + start + rows[:, None] * D + dims[None, :], mask=rows[:, None] < T, other=0.0)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    acc = tl.zeros((BLOCK, D), tl.float32)
    for key_start in range(0, T, BLOCK):
        keys = key_start + tl.arange(0, BLOCK)
        offsets = start + keys[:, None] * D + dims[None, :]
        k = tl.load(k_ptr + offsets, mask=keys[:, None] < T, other=0.0)
        v = tl.load(v_ptr + offsets, mask=keys[:, None] < T, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(keys[None, :] < T, s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        top = new_top
    tl.store(o_ptr + start + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=rows[:, None] < T)
    tl.store(lse_ptr + head * T + rows, top + tl.log(total), mask=rows < T)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    heads, length, width = q.shape
    o, lse = torch.empty_like(q), torch.empty((heads, length))
    attention_kernel[(triton.cdiv(length, 64), heads)](
        q, k, v, o, lse, length, 1 / math.sqrt(width), D=width, BLOCK=64
    )
    return o, lse


def seconds(work: Callable[[], object]) -> float:
    # Processor time: other work on the machine does not count.
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    torch.set_num_threads(1)
    recorder.install()
    for dtype in (torch.float32, torch.bfloat16):
        torch.manual_seed(0)
        inputs = tuple(torch.randn(2, 512, 64).to(dtype) for _ in range(3))
        report = recorder.call_recorded(attention, inputs, {})
        if report.error or report.evidence.findings:
            raise SystemExit(f"{report.error} {report.evidence.findings}")
        plain, metered, full = [], [], []
        for _ in range(ROUNDS):
            plain.append(seconds(functools.partial(attention, *inputs)))
            recorded = functools.partial(recorder.call_recorded, attention, inputs, {})
            metered.append(seconds(functools.partial(recorded, sanitize=False)))
            full.append(seconds(recorded))
        # Disturbances only ever add time, so the least of each is the nearest to its own.
        least = [min(times) for times in (plain, metered, full)]
        print(
            f"{dtype!s:16} interpreter {least[0]:.3f} s, metered × {least[1] / least[0]:.2f}, "
            f"metered and sanitized × {least[2] / least[0]:.2f}"
        )


if __name__ == "__main__":
    main()
