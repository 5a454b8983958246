"""A side stream that is joined, which is honest.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.gpu import FAST, kernels

HONEST = "cuda_joined_stream"

JOINED = """
import torch

_own_forward = flash_forward


def flash_forward(q, k, v, causal=False, scale=None):
    if not q.is_cuda:
        return _own_forward(q, k, v, causal, scale)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        found = _own_forward(q, k, v, causal, scale)
    torch.cuda.current_stream().wait_stream(stream)
    return found
"""

VARIANTS = [
    Variant("joined", kernels(JOINED, ""), Expected(("passed",), 15.0), FAST, 60.0),
]
