"""The softmax runs over the wrong dimension."""

import math
from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = (
    "Your softmax runs over the last dimension but one: it is the scores of one query, the last "
    "dimension, that sum to 1."
)
FAILS = (
    "test_softmax_runs_over_the_last_dimension",
    "test_any_scores",
)
SYMPTOMS = ("softmax_over_columns",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    scores = x.to(torch.promote_types(x.dtype, torch.float32))

    dim = -2 if x.ndim > 1 else -1
    largest = scores.amax(dim, keepdim=True)
    exponentials = torch.exp(scores - largest.masked_fill(largest == -math.inf, 0.0))
    total = exponentials.sum(dim, keepdim=True)
    return (exponentials / total.masked_fill(total == 0, 1.0)).to(x.dtype)
