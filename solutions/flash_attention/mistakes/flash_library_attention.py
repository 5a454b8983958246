"""PyTorch's attention does the work."""

from torch import Tensor

EXERCISE = "flash_forward"
HINT = "PyTorch does the work here: the exercise is to write the kernel yourself."
FAILS = ("test_a_kernel_does_the_work",)
SYMPTOMS = ("library_attention", "kernel.none_launched", "kernel.library")
ALSO = (
    "flash_forward_shapes",
    "flash_forward_half",
    "flash_forward_causal",
    "flash_forward_gqa",
    "efficiency",
    "performance",
)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    import math

    import torch

    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    if k.dim() > 2 and k.shape[-3] != q.shape[-3]:
        group = q.shape[-3] // k.shape[-3]
        k, v = (x.repeat_interleave(group, dim=-3) for x in (k, v))
    scores = (q.float() @ k.float().mT) * factor
    if causal:
        queries, keys = scores.shape[-2:]
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(keys - queries + 1)
        scores = scores.masked_fill(hidden, -math.inf)
    lse = scores.logsumexp(-1)
    weights = torch.exp(scores - torch.where(lse == -math.inf, 0.0, lse)[..., None])
    return (weights @ v.float()).to(q.dtype), lse
