"""PyTorch computes the attention."""

from torch import Tensor

EXERCISE = "flash_decode"
HINT = (
    "PyTorch does the work here, and no kernel of yours runs: write one for the parts, and one that "
    "merges them."
)
FAILS = ("test_the_keys_are_split_over_programs",)
SYMPTOMS = ("library_decode", "kernel.none_launched")
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    import math

    group = q.shape[1] // k.shape[1]
    k, v = (x.float().repeat_interleave(group, dim=1) for x in (k, v))
    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = factor * (q.float() @ k.mT)
    return (scores.softmax(-1) @ v).to(q.dtype), scores.logsumexp(-1)
