"""PyTorch computes the softmax."""

import torch
from torch import Tensor

EXERCISE = "softmax_triton"
HINT = (
    "PyTorch does the work here, and no kernel of yours runs: write one that goes through a row block "
    "by block."
)
FAILS = ("test_each_element_is_read_at_most_twice", "test_a_wide_row_fits_an_h100")
SYMPTOMS = ("library_softmax", "kernel.none_launched")
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return torch.softmax(x.float(), -1).nan_to_num(0.0).to(x.dtype)
