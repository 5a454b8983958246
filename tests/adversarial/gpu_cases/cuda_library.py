"""Calls the library's attention where the inputs are on a GPU, and its own kernel where tests look: `library_call`.

Stopped by: PyTorch's operations are watched in every timed call too.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.gpu import FAST, kernels

ATTACK = "cuda_library"

WHEN_ON_A_GPU = """
import torch

_own_forward = flash_forward


def flash_forward(q, k, v, causal=False, scale=None):
    if not q.is_cuda:
        return _own_forward(q, k, v, causal, scale)
    found = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
    return found[0], found[1]
"""

VARIANTS = [
    Variant("when_on_a_gpu", kernels(WHEN_ON_A_GPU, ""), Expected(("failed",), 5.0, "leaves the work to PyTorch as it is timed"), FAST, 60.0),
]
