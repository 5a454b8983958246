"""The bound of the corpus: tight enough to see one bad row, one wrong rounding, one NaN."""

import math

import pytest

pytest.importorskip("torch")

import torch

from tests.kernels.oracle import Arithmetic, Bound, bound_of, error_of, exact, truncated

DTYPES = (torch.float16, torch.bfloat16)
A = torch.randn(64, 96, generator=torch.Generator().manual_seed(1))
B = torch.randn(96, 48, generator=torch.Generator().manual_seed(2))


def product(m: Arithmetic, dtype: torch.dtype) -> torch.Tensor:
    """A @ B of inputs rounded to `dtype`."""
    return m.narrow(m.dot(m.up(A.to(dtype)), m.up(B.to(dtype))))


def bound(dtype: torch.dtype) -> Bound:
    return bound_of(product(Arithmetic(dtype), dtype), product(exact(dtype), dtype))


def excess(values: torch.Tensor, dtype: torch.dtype) -> float:
    return bound(dtype).excess(error_of(values, product(exact(dtype), dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_accepts_the_same_sums_in_another_order(dtype: torch.dtype) -> None:
    """Two halves of K added up: the float32 sums differ, and hardly any rounding does."""
    a, b = A.to(dtype).float(), B.to(dtype).float()
    assert excess((a[:, 48:] @ b[48:] + a[:, :48] @ b[:48]).to(dtype), dtype) < 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wrong", [{"rounding": "truncate"}, {"low_sums": True}])
def test_rejects_truncation_and_sums_in_sixteen_bits(dtype: torch.dtype, wrong: dict) -> None:
    assert excess(product(Arithmetic(dtype, **wrong), dtype), dtype) > 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_rejects_one_row_that_shrank(dtype: torch.dtype) -> None:
    """The norm over everything would hide it: one row of 64 is off by 5 %."""
    values = product(Arithmetic(dtype), dtype).clone()
    values[13] *= 0.95
    assert excess(values, dtype) > 1


def test_float32_bound_rejects_tf32_where_ieee_was_asked() -> None:
    """TF32 keeps 10 of 23 bits of mantissa."""
    m = Arithmetic(torch.float32)
    right = bound_of(m.dot(A, B, "ieee"), A.double() @ B.double())
    assert right.excess(error_of(m.dot(A, B, "ieee"), A.double() @ B.double())) < 1
    assert right.excess(error_of(m.dot(A, B, "tf32"), A.double() @ B.double())) > 100


def test_nan_is_infinitely_wrong_and_an_equal_infinity_is_right() -> None:
    """A logsumexp of −inf is a value; a NaN never passes."""
    expected = torch.tensor([1.0, -math.inf, 2.0], dtype=torch.float64)
    assert error_of(torch.tensor([1.0, -math.inf, 2.0]), expected).relative_l2 == 0
    assert error_of(torch.tensor([1.0, math.inf, 2.0]), expected).relative_l2 == math.inf
    assert error_of(torch.tensor([1.0, -math.inf, math.nan]), expected).relative_l2 == math.inf


def test_truncation_cuts_towards_zero() -> None:
    """1.0078125 + half a bf16 step, both signs: nearest would go up, truncation stays."""
    x = torch.tensor([1.0078125 + 0.0060, -1.0078125 - 0.0060])
    assert truncated(x, 7).tolist() == [1.0078125, -1.0078125]
    assert x.to(torch.bfloat16).tolist() == [1.015625, -1.015625]
