"""A row of −inf becomes NaN."""

from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = (
    "In a row that is masked throughout you compute −inf − (−inf), which is NaN. Subtract 0 there, and "
    "divide by 1."
)
FAILS = (
    "test_a_masked_score_weighs_nothing_and_a_masked_row_is_zero",
    "test_any_scores",
)
SYMPTOMS = ("softmax_masked_row_nan",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    scores = x.to(torch.promote_types(x.dtype, torch.float32))

    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (exponentials / exponentials.sum(-1, keepdim=True)).to(x.dtype)
