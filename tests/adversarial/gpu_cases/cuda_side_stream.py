"""Launches on a stream of its own and returns at once; the GPU's form of `side_stream`.

Seen in: KernelBench. Stopped by: the sketch is made on the stream of the harness, of an output that is not there yet.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.gpu import FAST, kernels

ATTACK = "cuda_side_stream"

NOT_JOINED = """
import torch

_stream = None


def flash_forward(q, k, v, causal=False, scale=None):
    global _stream
    if not q.is_cuda:
        return _fast_forward(q, k, v, causal, scale)
    _stream = _stream or torch.cuda.Stream()
    out = torch.zeros_like(q)
    lse = torch.zeros(q.shape[:-1], dtype=torch.float32, device=q.device)
    with torch.cuda.stream(_stream):
        found = slow(_fast_forward, q, k, v, causal, scale)
        out.copy_(found[0])
        lse.copy_(found[1])
    return out, lse
"""

VARIANTS = [
    Variant("not_joined", kernels(NOT_JOINED), Expected(("failed",), 0.0, "timed call"), FAST, 60.0),
]
