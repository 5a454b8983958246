"""The score matrix is written to memory."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = (
    "You write the T × T scores to memory and read them back. That is what flash avoids: keep a tile "
    "of scores in registers, and rescale."
)
FAILS = ("test_no_temporary_is_as_large_as_the_scores",)
SYMPTOMS = ("scores_in_memory",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    import torch

    scores = torch.empty((*q.shape[:-1], k.shape[-2]), dtype=q.dtype, device=q.device)
    scores.zero_()
    return run(q, k, v, causal, scale)
