"""Leaves work on the card that goes on while the baseline is timed: stopping a process stops no kernel.

Stopped by: the baseline beside the submission is compared with what it took before the submission ever ran.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.gpu import FAST, kernels

ATTACK = "cuda_left_running"

LONG_QUEUE = """
import torch

_noise = None
_stream = None


def flash_forward(q, k, v, causal=False, scale=None):
    global _noise, _stream
    if q.is_cuda:
        if _noise is None:
            _noise, _stream = torch.randn(8192, 8192, device=q.device), torch.cuda.Stream()
        with torch.cuda.stream(_stream):
            for _ in range(20):
                _noise.sin_()
    return slow(_fast_forward, q, k, v, causal, scale)
"""

VARIANTS = [
    Variant("long_queue", kernels(LONG_QUEUE), Expected(("failed", "inconclusive", "timed_out"), 0.0), FAST, 60.0),
]
