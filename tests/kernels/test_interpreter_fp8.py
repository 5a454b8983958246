"""8-bit floats under the mended interpreter: conversions as an H100's `cvt` does them, no arithmetic."""

import pytest
import torch
import triton
import triton.language as tl

from grader.kernels import interpreter
from tests.kernels._interpreted import interpreted

TYPES = ["float8_e4m3fn", "float8_e5m2"]


@triton.jit
def copy_kernel(source, target, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(target + at, tl.load(source + at).to(target.dtype.element_ty))


@triton.jit
def add_kernel(source, target):
    at = tl.arange(0, 16)
    x = tl.load(source + at)
    tl.store(target + at, x + x)


def convert(source, dtype):
    """Through a kernel; any length, padded with zeros."""
    interpreter.install()
    size = triton.next_power_of_2(len(source))
    padded = torch.zeros(size, dtype=torch.float32).to(source.dtype)
    padded.view(torch.uint8)[: source.nbytes] = source.view(torch.uint8)
    target = torch.zeros(size, dtype=torch.float32).to(dtype)
    copy_kernel[(1,)](padded, target, SIZE=size)
    return target[: len(source)]


@pytest.mark.parametrize("name", TYPES)
@interpreted
def test_every_fp8_widens_exactly(name):
    """All 256, to fp32, fp16 and bf16."""
    source = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(getattr(torch, name))
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        got = convert(source, dtype)
        expected = source.float().to(dtype)
        assert bool(((got == expected) | (got.isnan() & expected.isnan())).all()), dtype


@pytest.mark.parametrize("name", TYPES)
@interpreted
def test_fp32_is_rounded_to_the_nearest_even_fp8(name):
    """Midpoints of all neighbours, and a little to either side."""
    dtype = getattr(torch, name)
    finite = torch.arange(127, dtype=torch.int32).to(torch.uint8).view(dtype).float()
    finite = finite[finite.isfinite()]
    middles = (finite[1:] + finite[:-1]) / 2
    source = torch.cat([middles, middles * (1 + 2**-20), middles * (1 - 2**-20), -middles])
    assert torch.equal(convert(source, dtype).float(), source.to(dtype).float())


@pytest.mark.parametrize("name", TYPES)
@interpreted
def test_fp8_saturates_and_keeps_nan(name):
    """satfinite: infinity becomes the largest number too."""
    limit = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}[name]
    source = torch.tensor([1e6, -1e6, float("inf"), float("-inf"), float("nan"), limit, 0.0, -0.0])
    got = convert(source, getattr(torch, name)).float()
    assert got[:4].tolist() == [limit, -limit, limit, -limit]
    assert got[4].isnan()
    assert got[5:7].tolist() == [limit, 0.0]


@pytest.mark.parametrize("name", TYPES)
@interpreted
def test_fp8_has_no_arithmetic(name):
    """The compiler refuses it too, in pages of LLVM."""
    interpreter.install()
    source = torch.ones(16).to(getattr(torch, name))
    with pytest.raises(Exception, match=r"has no arithmetic on the GPU: cast it first, x.to\(tl.float32\)"):
        add_kernel[(1,)](source, source.clone())
