"""tl.dot under the mended interpreter: the operand rules and the precision of an H100."""

import math

import ml_dtypes
import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from grader.kernels import interpreter
from grader.kernels.faults import KernelFault
from grader.kernels.interpreter import number_formats
from tests.kernels._interpreted import interpreted


@triton.jit
def dot_kernel(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    product = tl.dot(x, y, input_precision=PRECISION, out_dtype=OUT)
    tl.store(c + m[:, None] * N + n[None, :], product.to(c.dtype.element_ty))


@triton.jit
def accumulating_kernel(a, c, OUT: tl.constexpr):
    at = tl.arange(0, 16)
    x = tl.load(a + at[:, None] * 16 + at[None, :])
    total = tl.full((16, 16), 2048.0, OUT)
    total = tl.dot(x, x, total, out_dtype=OUT)
    tl.store(c + at[:, None] * 16 + at[None, :], total.to(tl.float32))


@triton.jit
def other_accumulator_kernel(a, c):
    at = tl.arange(0, 16)
    x = tl.load(a + at[:, None] * 16 + at[None, :])
    total = tl.dot(x, x, tl.zeros((16, 16), tl.float16), out_dtype=tl.float32)
    tl.store(c + at[:, None] * 16 + at[None, :], total)


@triton.jit
def helper(x, y):
    return tl.dot(x, y)


@triton.jit
def nested_kernel(a, b):
    at = tl.arange(0, 16)
    tile = at[:, None] * 16 + at[None, :]
    x = tl.load(a + tile)
    y = tl.load(b + tile)
    tl.store(a + tile, helper(x, y).to(a.dtype.element_ty))


@triton.jit
def integer_kernel(a, c):
    at = tl.arange(0, 32)
    x = tl.load(a + at[:, None] * 32 + at[None, :])
    tl.store(c + at[:, None] * 32 + at[None, :], tl.dot(x, x))


def dot(a, b, precision="tf32", out=tl.float32):
    """a @ b through a kernel, in fp32."""
    interpreter.install()
    c = torch.zeros(a.shape[0], b.shape[1])
    dot_kernel[(1,)](
        a, b, c, M=a.shape[0], N=b.shape[1], K=a.shape[1], PRECISION=precision, OUT=tl.constexpr(out)
    )
    return c


def error(got, a, b):
    """Relative L2, against fp64."""
    exact = a.double() @ b.double()
    return ((got - exact).norm() / exact.norm()).item()


def refusal(function):
    """The finding that the call ends in."""
    with pytest.raises(Exception, match="KernelFault") as caught:
        function()
    fault = interpreter.explain(caught.value)
    assert isinstance(fault, KernelFault)
    return fault.finding


def cut(x):
    """The top 19 bits of each fp32."""
    return (x.view(torch.int32) & -8192).view(torch.float32)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
@interpreted
def test_products_of_small_floats_are_exact_and_added_in_fp32(name):
    """Inputs rounded beforehand: what is left is fp32's own error."""
    torch.manual_seed(0)
    a, b = (torch.randn(32, 64).to(getattr(torch, name)), torch.randn(64, 16).to(getattr(torch, name)))
    assert error(dot(a, b), a, b) < 3e-7


@interpreted
def test_fp32_operands_are_cut_to_tf32():
    """By default: not rounded, since the compiled code has no conversion and the tensor core reads 19 bits."""
    torch.manual_seed(1)
    a, b = torch.randn(32, 64), torch.randn(64, 32)
    assert 3e-4 < error(dot(a, b), a, b) < 1.5e-3
    assert torch.allclose(dot(a, b).double(), cut(a).double() @ cut(b).double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("precision", ["ieee", "tf32x3", "bf16x6"])
@interpreted
def test_precise_fp32_dots_keep_their_digits(precision):
    """ieee is fp32; tf32x3 and bf16x6 are nearly so."""
    torch.manual_seed(2)
    a, b = torch.randn(32, 64), torch.randn(64, 32)
    assert error(dot(a, b, precision), a, b) < 5e-7


@interpreted
def test_three_tf32_products_survive_infinities():
    """The remainder of an infinity is no NaN."""
    a = torch.zeros(16, 16)
    a[0, 0] = float("inf")
    assert dot(a, torch.ones(16, 16), "tf32x3")[0].tolist() == [math.inf] * 16


@interpreted
def test_an_fp16_accumulator_loses_what_fp16_loses():
    """2048 + 1: fp16 has steps of 2 there."""
    interpreter.install()
    a = torch.eye(16, dtype=torch.float16)
    for out, expected in ((tl.float16, 2048.0), (tl.float32, 2049.0)):
        c = torch.zeros(16, 16)
        accumulating_kernel[(1,)](a, c, OUT=tl.constexpr(out))
        assert c[0, 0].item() == expected


@interpreted
def test_an_accumulator_of_another_dtype_is_refused():
    """An fp16 one for an fp32 result; 3.7's own assertion has no text."""
    interpreter.install()
    x, c = torch.zeros(16, 16, dtype=torch.float16), torch.zeros(16, 16)
    finding = refusal(lambda: other_accumulator_kernel[(1,)](x, c))
    assert "accumulator" in finding.message
    assert "the dtype out_dtype" in finding.message


@interpreted
def test_int8_dots_are_exact():
    """Into int32."""
    interpreter.install()
    a = torch.randint(-128, 128, (32, 32), dtype=torch.int8)
    c = torch.zeros(32, 32, dtype=torch.int32)
    integer_kernel[(1,)](a, c)
    assert torch.equal(c, a.int() @ a.int())


@interpreted
def test_a_short_k_is_refused_as_the_compiler_refuses_it():
    """fp16 with K = 8."""
    a, b = torch.zeros(16, 8, dtype=torch.float16), torch.zeros(8, 16, dtype=torch.float16)
    finding = refusal(lambda: dot(a, b))
    assert finding.kind == "dot_operands"
    assert "16×8 fp16 and 8×16 fp16" in finding.message
    assert "K >= 16" in finding.message
    assert "mask" in finding.message
    assert finding.kernel == "dot_kernel"
    assert finding.place.source.startswith("product = tl.dot(x, y")


@interpreted
def test_short_rows_and_columns_are_not_refused():
    """The compiler pads M and N to the tensor core's tile since triton 3.6."""
    a = torch.randn(1, 16).half()
    b = torch.randn(16, 8).half()
    assert error(dot(a, b), a, b) < 3e-7


@interpreted
def test_mixed_operands_are_refused_at_the_students_line():
    """fp32 times fp16, in a helper of the kernel."""
    interpreter.install()
    a, b = torch.zeros(16, 16), torch.zeros(16, 16, dtype=torch.float16)
    finding = refusal(lambda: nested_kernel[(1,)](a, b))
    assert "Both operands must be same dtype" in finding.message
    assert "b.to(tl.float32)" in finding.message
    assert finding.place.source == "return tl.dot(x, y)"
    assert finding.kernel == "nested_kernel"
    assert finding.place.file == __file__


@interpreted
def test_a_precision_that_no_gpu_has_is_refused():
    """A finding, not a ValueError of triton's."""
    a = torch.zeros(16, 16)
    assert refusal(lambda: dot(a, a, "fp32")).kind == "dot_operands"


@interpreted
def test_a_bf16_result_is_refused():
    """The compiler's own words and its remedy."""
    a = torch.zeros(16, 16, dtype=torch.bfloat16)
    assert "out_dtype=bfloat16 is unsupported" in refusal(lambda: dot(a, a, out=tl.bfloat16)).message


def test_tf32_is_rounded_away_from_zero_on_ties_where_it_is_rounded():
    """cvt.rna: 1 + 2^-11 lies between two TF32 numbers; truncation takes the lower."""
    tie = np.array([1 + 2**-11, -1 - 2**-11, np.inf, 1 + 2**-12], dtype=np.float32)
    assert number_formats.round_to_tf32(tie).tolist() == [1 + 2**-10, -1 - 2**-10, np.inf, 1.0]
    assert number_formats.truncate_to_tf32(tie).tolist() == [1.0, -1.0, np.inf, 1.0]


def test_rounding_toward_zero_never_grows():
    """Into every small format, infinities kept."""
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32) * 10
    for target in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        cut_values = number_formats.round_float(values, np.dtype(target), toward_zero=True).astype(np.float32)
        nearest = values.astype(target).astype(np.float32)
        assert (np.abs(cut_values) <= np.abs(values)).all()
        assert ((cut_values == nearest) | (np.abs(nearest) > np.abs(values))).all()
