"""The sum goes over all scores of the tensor."""

import math
from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = "Your sum goes over the whole tensor. Each row has a sum of its own: sum(-1, keepdim=True)."
FAILS = (
    "test_softmax_runs_over_the_last_dimension",
    "test_any_scores",
)
SYMPTOMS = ("softmax_over_everything",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    scores = x.to(torch.promote_types(x.dtype, torch.float32))

    largest = scores.amax(-1, keepdim=True)
    exponentials = torch.exp(scores - largest.masked_fill(largest == -math.inf, 0.0))
    weights = torch.exp(scores - scores.max())
    return (weights / weights.sum() if exponentials.ndim else exponentials).to(x.dtype)
