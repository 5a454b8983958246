"""The maximum is not subtracted."""

import math
from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = (
    "exp of a score above 88.7 is infinite in fp32. Subtract the largest score of the row from all of its "
    "scores first."
)
FAILS = (
    "test_scores_of_ten_thousand_do_not_overflow",
    "test_any_scores",
)
SYMPTOMS = ("softmax_overflows",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    scores = x.to(torch.promote_types(x.dtype, torch.float32))

    exponentials = torch.exp(scores)
    total = exponentials.sum(-1, keepdim=True)
    masked = (scores == -math.inf).all(-1, keepdim=True)
    return (exponentials / total.masked_fill(masked, 1.0)).to(x.dtype)
