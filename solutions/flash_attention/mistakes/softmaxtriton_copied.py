"""PyTorch computes the softmax, and a kernel copies it."""

import torch
from torch import Tensor

from ._norms import copied

EXERCISE = "softmax_triton"
HINT = (
    "A kernel runs, but what it writes was computed by PyTorch before. Maximum, exponential and sum "
    "belong into the kernel."
)
FAILS = ("test_each_element_is_read_at_most_twice",)
SYMPTOMS = ("softmax_beside_the_kernel", "kernel.library")
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return copied(torch.softmax(x.float(), -1).nan_to_num(0.0).to(x.dtype))
