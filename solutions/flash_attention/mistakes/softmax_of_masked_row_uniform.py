"""A row of −inf is treated as a row of equal scores."""

from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = (
    "A row that is masked throughout comes out as equal weights. Nobody may be looked at there: all of it"
    " is 0."
)
FAILS = (
    "test_a_masked_score_weighs_nothing_and_a_masked_row_is_zero",
    "test_any_scores",
)
SYMPTOMS = ("softmax_masked_row_uniform",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    scores = x.to(torch.promote_types(x.dtype, torch.float32))

    finite = scores.clamp_min(torch.finfo(torch.float32).min)
    exponentials = torch.exp(finite - finite.amax(-1, keepdim=True))
    return (exponentials / exponentials.sum(-1, keepdim=True)).to(x.dtype)
