"""The largest score of the whole tensor is subtracted from every row."""

import math
from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = (
    "You subtract one maximum from all rows. A row far below it vanishes: each row needs its own, "
    "amax(-1, keepdim=True)."
)
FAILS = (
    "test_each_row_has_its_own_maximum",
    "test_any_scores",
)
SYMPTOMS = ("softmax_one_maximum",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    scores = x.to(torch.promote_types(x.dtype, torch.float32))

    exponentials = torch.exp(scores - scores.max())
    total = exponentials.sum(-1, keepdim=True)
    masked = (scores == -math.inf).all(-1, keepdim=True)
    return (exponentials / total.masked_fill(masked, 1.0)).to(x.dtype)
