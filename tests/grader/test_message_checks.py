"""What a wrong sum of a ring is said to be: how much of it is wrong, and where it begins."""

from types import SimpleNamespace

import pytest
import torch

from grader.calls.faults import CheckFailed
from grader.checks import messages
from grader.checks.expect import Expect

INPUTS = [torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[5.0, -2.0], [0.0, 1.0]])]
TOTAL = INPUTS[0] + INPUTS[1]


def complaint(got: torch.Tensor, *, hidden: bool = False) -> str:
    """The message where rank 0 is right and rank 1 returns `got`."""
    seen = SimpleNamespace(values=[(TOTAL.clone(), INPUTS[0]), (got, INPUTS[1])])
    with pytest.raises(CheckFailed) as caught:
        messages.results(Expect(hidden), seen, INPUTS, lambda rank: TOTAL, "2 ranks")
    return caught.value.message


def test_the_first_wrong_element_is_shown_as_it_is_and_as_it_should_be():
    mean = complaint(TOTAL / 2)
    assert mean == (
        "2 ranks: rank 1: elements are wrong, 2 of 4: number 0 of the flattened tensor is 3, and should be 6"
    )
    unfinished = TOTAL.clone()
    unfinished[1, 1] = float("nan")
    assert complaint(unfinished).endswith("1 of 4: number 3 of the flattened tensor is nan, and should be 4")


def test_a_hidden_check_says_which_rank_and_no_number_of_the_tensor():
    assert complaint(TOTAL / 2, hidden=True) == "2 ranks: rank 1: elements are wrong"
