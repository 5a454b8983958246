"""Half precision scores are exponentiated and summed in half precision."""

import math
from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = (
    "Your sum is made in the format of the scores, and fp16 ends at 65,504. Convert to fp32 first, and "
    "back at the end."
)
FAILS = ("test_half_precision_sums_in_fp32",)
SYMPTOMS = ("softmax_sum_in_half",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    largest = x.amax(-1, keepdim=True)
    exponentials = torch.exp(x - largest.masked_fill(largest == -math.inf, 0.0))
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / total.masked_fill(total == 0, 1.0)
