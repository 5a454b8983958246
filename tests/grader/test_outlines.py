"""Outlines: equal values match, tensors match up to rounding, and no element can be read from what is kept."""

import json

import numpy as np
import pytest
import torch

from grader.checks.outlines import Sketch, outline

GENERATOR = torch.Generator().manual_seed(7)


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=GENERATOR, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("value", [3, 2.5, "word", None, True, [1, 2], {"a": 1.0}, (1, "b")])
def test_a_plain_value_matches_itself_and_no_other(value):
    assert outline(value).matches(outline(value))
    assert not outline(value).matches(outline("another"))


def test_another_order_of_summation_is_the_same_result():
    x, y = normal(64, 256), normal(256, 48)
    whole = x @ y
    halves = x[:, 50:] @ y[50:] + x[:, :50] @ y[:50]
    assert not torch.equal(whole, halves)
    assert outline(whole).matches(outline(halves))


@pytest.mark.parametrize(("dtype", "relative"), [(torch.float32, 0.01), (torch.bfloat16, 0.05)])
def test_a_result_that_is_somewhat_off_is_another(dtype, relative):
    x = normal(32, 40, dtype=dtype)
    off = (
        x.double() + relative * x.double().norm() / x.numel() ** 0.5 * normal(32, 40, dtype=torch.float64)
    ).to(dtype)
    assert outline(x).matches(outline(x.clone()))
    assert not outline(x).matches(outline(off))


def test_bf16_results_that_differ_in_the_last_place_match():
    x = normal(64, 64, dtype=torch.bfloat16)
    moved = (x.double() * (1 + 2.0**-8 * torch.sign(normal(64, 64, dtype=torch.float64)))).bfloat16()
    assert not torch.equal(x, moved)
    assert outline(x).matches(outline(moved))


@pytest.mark.parametrize(
    "other",
    [
        torch.ones(6).reshape(2, 3),
        torch.ones(6, dtype=torch.float64),
        torch.ones(6, dtype=torch.int32),
        torch.tensor([1.0, 1, 1, 1, 1, float("nan")]),
        -torch.ones(6),
        torch.zeros(6),
        [1.0] * 6,
    ],
    ids=["shape", "dtype", "integers", "nan", "sign", "zeros", "list"],
)
def test_what_differs_in_kind_is_another_value(other):
    assert not outline(torch.ones(6)).matches(outline(other))


def test_infinities_count_by_sign_and_zeros_match():
    infinite = torch.tensor([float("inf"), 1.0])
    assert outline(infinite).matches(outline(infinite.clone()))
    assert not outline(infinite).matches(outline(torch.tensor([float("-inf"), 1.0])))
    assert outline(torch.zeros(3)).matches(outline(torch.zeros(3)))
    assert outline(torch.empty(0)).matches(outline(torch.empty(0)))


def test_tensors_inside_tuples_are_compared_one_by_one():
    out, lse = normal(4, 8), normal(4)
    assert outline((out, lse)).matches(outline([out.clone(), lse * (1 + 1e-6)]))
    assert not outline((out, lse)).matches(outline((out, lse + 1)))
    assert not outline((out, lse)).matches(outline((out,)))


def test_a_sketch_survives_json():
    (sketch,) = outline(normal(5, 5)).sketches
    assert Sketch.from_list(json.loads(json.dumps(sketch.as_list()))) == sketch


def test_signs_are_the_same_on_every_machine():
    (sketch,) = outline(torch.arange(1.0, 9.0)).sketches
    assert sketch.norm == pytest.approx(float(np.sqrt(204)), rel=1e-5)
    assert sketch.projections[:3] == (-0.560112, 0.140028, 1.120224)
