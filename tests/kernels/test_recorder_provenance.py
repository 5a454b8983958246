"""What a call's result can come from, counted: PyTorch's arithmetic, and what Python brings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from grader.kernels import recorder
from grader.kernels.evidence import TorchWork
from tests.kernels._interpreted import interpreted

SIZE = 64


@triton.jit
def copy_kernel(x_ptr, y_ptr, factor, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y_ptr + at, tl.load(x_ptr + at) * factor)


def copied(x: torch.Tensor, factor: float = 1.0) -> torch.Tensor:
    y = torch.empty_like(x)
    copy_kernel[(1,)](x, y, factor, N=SIZE)
    return y


def work(function: Callable[..., Any]) -> TorchWork:
    """What was counted in a call with one tensor of SIZE elements."""
    done = recorder.call_recorded(function, (torch.arange(float(SIZE)),), {})
    assert done.error is None, repr(done.error)
    return done.evidence.torch


@interpreted
def test_arithmetic_on_arguments_is_counted_in_elements():
    """A product and a sum: SIZE elements each, whatever the result's size."""
    assert work(lambda x: (x * x).sum()).computed_elements == 2 * SIZE
    assert work(lambda x: x[:, None] * x[None, :]).computed_elements == SIZE * SIZE


@interpreted
def test_making_viewing_and_copying_is_free():
    def function(x):
        y = torch.cat([x.reshape(8, 8).mT.contiguous(), torch.zeros(1, 8)])
        return y.to(torch.float16).clone().expand(2, 9, 8)[1:, :4]

    assert work(function).computed_elements == 0


@interpreted
def test_arithmetic_on_what_kernels_made_is_counted_apart():
    """And on what was computed from that."""
    seen = work(lambda x: (copied(x) + copied(x)) * x)
    assert (seen.computed_elements, seen.merged_elements) == (0, 2 * SIZE)
    seen = work(lambda x: copied(x * 2))
    assert (seen.computed_elements, seen.merged_elements) == (SIZE, 0)


@interpreted
def test_memory_that_is_used_again_is_nobodys():
    """A kernel's output dies, and PyTorch gets its memory for something else."""

    def function(x):
        for _ in range(50):
            copied(x)
            x + x
        return x

    assert work(function).computed_elements == 50 * SIZE


@interpreted
def test_numbers_are_counted_once_each():
    """To operations, to launches, in constants and in texts."""
    base = work(copied).brought_bytes
    assert work(lambda x: [copied(x) for _ in range(9)]).brought_bytes == base
    assert work(lambda x: [copied(x, 2.0 + step) for step in range(9)]).brought_bytes >= base + 8 * 8
    assert (
        work(lambda x: [copied(x)] + [x + 0.1 * step for step in range(1, 10)]).brought_bytes >= base + 8 * 9
    )
    assert work(lambda x: copied(x, 3.5)[:3].reshape(3, 1)).brought_bytes == base  # sizes are no numbers


@interpreted
def test_constants_of_a_kernels_code_are_brought():
    many = "".join(f"    x = x + {step}.25\n" for step in range(50))
    source = f"def many_kernel(x_ptr, y_ptr, N: tl.constexpr):\n    x = tl.load(x_ptr)\n{many}    tl.store(y_ptr, x)\n"
    names: dict[str, Any] = {"tl": tl}
    exec(source, names)  # a kernel with many constants
    kernel = triton.jit(names["many_kernel"])

    def function(x):
        y = torch.zeros(1)
        kernel[(1,)](x, y, N=1)
        return y

    assert work(function).brought_bytes >= 50 * 8


@interpreted
def test_choices_among_many_tensors_are_counted():
    """Which of 64 pieces goes where is told by 320 copies."""

    def function(x):
        for place, piece in zip(copied(x).split(1) * 5, x.split(1) * 5, strict=True):
            place.copy_(piece)

    assert work(function).brought_bytes >= 2 * (5 * SIZE - 256)


@interpreted
def test_large_integers_and_numpys_numbers_count_by_their_size():
    assert work(lambda x: x + np.float64(0.3)).brought_bytes >= 8
    assert (
        work(lambda x: copied(x, 1 << 62)).brought_bytes == work(lambda x: copied(x, 1 << 61)).brought_bytes
    )
