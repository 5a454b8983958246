"""Reductions, scans and atomics of 16-bit floats under the mended interpreter: every addition rounds."""

import pytest
import torch
import triton
import triton.language as tl

from grader.kernels import interpreter
from tests.kernels._interpreted import interpreted


@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def reduce_kernel(source, target, indices, OPERATION: tl.constexpr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x = tl.load(source + at[:, None] * SIZE + at[None, :])
    if OPERATION == "sum":
        y = tl.sum(x, 1)
    elif OPERATION == "max":
        y = tl.max(x, 1)
    elif OPERATION == "argmax":
        y, index = tl.max(x, 1, return_indices=True)
        tl.store(indices + at, index)
    elif OPERATION == "largest by function":
        y = tl.reduce(x, 1, larger)
    elif OPERATION == "sum by function":
        y = tl.reduce(x, 1, plus)
    tl.store(target + at, y.to(target.dtype.element_ty))


@triton.jit
def mean_of_two(mean, weight, other_mean, other_weight):
    total = weight + other_weight
    return (mean * weight + other_mean * other_weight) / total, total


@triton.jit
def mean_kernel(source, means, weights, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x = tl.load(source + at[:, None] * SIZE + at[None, :])
    mean, weight = tl.reduce((x, tl.full((SIZE, SIZE), 1.0, tl.float32)), 0, mean_of_two)
    tl.store(means + at, mean)
    tl.store(weights + at, weight)


@triton.jit
def larger_with_if(a, b):
    if a > b:
        c = a
    else:
        c = b
    return c


@triton.jit
def branching_kernel(source, target, scanned, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x = tl.load(source + at)
    tl.store(target, tl.reduce(x, 0, larger_with_if))
    tl.store(scanned + at, tl.associative_scan(x, 0, larger_with_if))


@triton.jit
def scan_kernel(source, target, OPERATION: tl.constexpr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x = tl.load(source + at)
    if OPERATION == "cumsum":
        y = tl.cumsum(x, 0)
    elif OPERATION == "largest so far":
        y = tl.associative_scan(x, 0, larger)
    else:
        y = tl.sort(x)
    tl.store(target + at, y.to(target.dtype.element_ty))


@triton.jit
def atomic_kernel(target, source, olds, slots, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    old = tl.atomic_add(target + tl.load(slots + at), tl.load(source + at), mask=at < SIZE - 1)
    tl.store(olds + at, old)


@triton.jit
def swap_kernel(target, olds):
    at = tl.arange(0, 2)
    five, three = tl.full((2,), 5.0, tl.bfloat16), tl.full((2,), 3.0, tl.bfloat16)
    tl.store(olds + at, tl.atomic_cas(target + at, five, three))


def launch(kernel, *arguments, grid=(1,), **options):
    interpreter.install()
    kernel[grid](*arguments, **options)


@pytest.mark.parametrize("operation", ["sum", "max", "argmax", "largest by function", "sum by function"])
@interpreted
def test_reductions_of_bf16(operation):
    """Sums are made of bf16 additions, pairwise: the compiled tl.sum has add.bf16 at every step."""
    x = torch.randn(16, 16).bfloat16()
    target, indices = torch.zeros(16), torch.zeros(16, dtype=torch.int32)
    launch(reduce_kernel, x, target, indices, OPERATION=operation, SIZE=16)
    if operation.startswith("sum"):
        total = x
        while total.shape[1] > 1:
            total = total[:, 0::2] + total[:, 1::2]
        assert torch.equal(target, total[:, 0].float())
    else:
        assert torch.equal(target, x.float().max(1).values)
    if operation == "argmax":
        assert torch.equal(indices, x.float().argmax(1).int())


@interpreted
def test_a_sum_of_fp16_rounds_every_addition():
    """4096 and fifteen times 1: fp16 has steps of 4 there, and of four additions to 4096 the first two are lost."""
    x = torch.ones(16, 16, dtype=torch.float16)
    x[:, 0] = 4096
    target, indices = torch.zeros(16), torch.zeros(16, dtype=torch.int32)
    launch(reduce_kernel, x, target, indices, OPERATION="sum", SIZE=16)
    # Pairwise: 4096 + 1, which stays 4096, then + 2 (to even: 4096), + 4 and + 8.
    assert set(target.tolist()) == {4096.0 + 4 + 8}


@pytest.mark.parametrize("operation", ["cumsum", "largest so far", "sort"])
@interpreted
def test_scans_and_sorts_of_bf16(operation):
    """Against torch in fp32."""
    x = torch.randn(32).bfloat16()
    target = torch.zeros(32)
    launch(scan_kernel, x, target, OPERATION=operation, SIZE=32)
    expected = {
        "cumsum": x.float().cumsum(0),
        "largest so far": x.float().cummax(0).values,
        "sort": x.float().sort().values,
    }
    assert torch.allclose(target, expected[operation], rtol=1e-6, atol=1e-6)


@interpreted
def test_reductions_of_several_values():
    """A running mean with its weight, as layernorms do it."""
    x = torch.randn(32, 32)
    means, weights = torch.zeros(32), torch.zeros(32)
    launch(mean_kernel, x, means, weights, SIZE=32)
    assert torch.allclose(means, x.mean(0), atol=1e-6)
    assert weights.tolist() == [32.0] * 32


@interpreted
def test_a_combining_function_with_an_if_sees_single_elements():
    """An `if` on a whole tile would always hold."""
    x = torch.randn(16)
    target, scanned = torch.zeros(1), torch.zeros(16)
    launch(branching_kernel, x, target, scanned, SIZE=16)
    assert target[0] == x.max()
    assert torch.equal(scanned, x.cummax(0).values)


@interpreted
def test_atomic_additions_of_bf16_round_each_time():
    """Eight elements on three addresses; the last is masked."""
    source = torch.tensor([1.0, 2.0, 3.0, 0.5, 256.0, 1.0, 1.0, 99.0], dtype=torch.bfloat16)
    slots = torch.tensor([0, 0, 1, 1, 2, 2, 2, 0], dtype=torch.int32)
    target, olds = torch.zeros(3, dtype=torch.bfloat16), torch.zeros(8, dtype=torch.bfloat16)
    launch(atomic_kernel, target, source, olds, slots, SIZE=8)
    # bf16 has steps of 2 at 256: adding 1 twice changes nothing.
    assert target.tolist() == [3.0, 3.5, 256.0]
    assert olds.tolist()[:7] == [0.0, 1.0, 0.0, 3.0, 0.0, 256.0, 256.0]


@interpreted
def test_atomic_additions_of_fp16_round_each_time():
    """The same in fp16, whose steps are 2 at 2048."""
    source = torch.tensor([1.0, 2.0, 3.0, 0.5, 2048.0, 1.0, 1.0, 99.0], dtype=torch.float16)
    slots = torch.tensor([0, 0, 1, 1, 2, 2, 2, 0], dtype=torch.int32)
    target, olds = torch.zeros(3, dtype=torch.float16), torch.zeros(8, dtype=torch.float16)
    launch(atomic_kernel, target, source, olds, slots, SIZE=8)
    assert target.tolist() == [3.0, 3.5, 2048.0]


@interpreted
def test_compare_and_swap_of_bf16():
    """Old values come back; where they are the expected ones, new ones are there."""
    target, olds = torch.tensor([5.0, -2.0], dtype=torch.bfloat16), torch.zeros(2, dtype=torch.bfloat16)
    launch(swap_kernel, target, olds)
    assert olds.tolist() == [5.0, -2.0]
    assert target.tolist() == [3.0, -2.0]
