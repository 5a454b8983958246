"""What a card reaches where nothing but one unit is asked for: its memory by a copy, its tensor cores by a matmul.

Not run on a GPU yet: the tests have a clock that is told, and sizes that a core can do.
"""

import torch

from kernels_ref.bench.clock import Clock, take_turns

COPY_BYTES = 1 << 30
"""Far above any L2."""
MATMUL = 8192
"""Rows and columns: 1.1e12 FLOPs, in which launching and the last wave do not count."""
ROUNDS = 20


def copy_gb_per_s(clock: Clock, device: str, size_bytes: int = COPY_BYTES) -> float:
    """Bytes read and written by a copy within device memory, 1e9 a second."""
    source = torch.ones(size_bytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    taken = take_turns({"copy": lambda: target.copy_(source)}, clock, ROUNDS)
    return 2 * size_bytes / taken["copy"].median_s / 1e9


def bf16_tflops(clock: Clock, device: str, size: int = MATMUL) -> float:
    """FLOPs of a square bf16 matmul, fp32 sums, 1e12 a second; entries of N(0, 1), since zeros take less power."""
    generator = torch.Generator(device).manual_seed(0)
    a, b = (torch.randn(size, size, generator=generator, device=device).to(torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    taken = take_turns({"matmul": lambda: torch.mm(a, b, out=out)}, clock, ROUNDS)
    return 2 * size**3 / taken["matmul"].median_s / 1e12
