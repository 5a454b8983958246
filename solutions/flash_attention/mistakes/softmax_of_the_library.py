"""torch's own softmax does the work."""

from typing import TYPE_CHECKING

EXERCISE = "safe_softmax"
HINT = (
    "torch's softmax, or its logsumexp, is what you are writing. Only max, exp and sum over a row, and a "
    "division, are needed."
)
FAILS = (
    "test_softmax_runs_over_the_last_dimension",
    "test_scores_of_ten_thousand_do_not_overflow",
    "test_each_row_has_its_own_maximum",
    "test_a_masked_score_weighs_nothing_and_a_masked_row_is_zero",
    "test_half_precision_sums_in_fp32",
    "test_any_scores",
)
SYMPTOMS = ("library_softmax",)


if TYPE_CHECKING:
    from torch import Tensor


def safe_softmax(x: "Tensor") -> "Tensor":
    import torch

    scores = x.to(torch.promote_types(x.dtype, torch.float32))

    return torch.softmax(scores, -1).nan_to_num(0.0).to(x.dtype)
