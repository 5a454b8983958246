"""What exercises return is built by name or by place, and a wrong one is refused in one line."""

import numpy as np
import pytest
from pydantic import ValidationError

from specs import (
    WIRE_TYPES,
    Cost,
    ExpertParameterCount,
    FusedCost,
    LaunchTimes,
    LeverEffect,
    ModelShape,
    OpCost,
    SpecError,
    StateBytes,
    StepTime,
)
from specs.answer import Answer
from specs.terms import Terms

COST = Cost(1, 2, 3)


@pytest.mark.parametrize(
    "made",
    [
        StateBytes(2, 2, 4, 8),
        ModelShape(33, 4224),
        ExpertParameterCount(3, 2, 1),
        COST,
        OpCost("norm", "memory", 2, COST),
        FusedCost(COST, COST),
        LaunchTimes(1.0, 2.0, 3.0, "launch"),
        StepTime(1.0, 2.0, 3.0),
        LeverEffect(-1, 0),
    ],
    ids=lambda made: type(made).__name__,
)
def test_values_by_place_are_the_fields_in_their_order(made):
    assert type(made)(**dict(made)) == made
    first, *others = dict(made)
    assert type(made)(getattr(made, first), **{name: getattr(made, name) for name in others}) == made
    assert type(made).model_validate(made.model_dump()) == made


def test_every_sum_of_terms_is_one():
    sums = {kind for kind in WIRE_TYPES.values() if issubclass(kind, Terms)}
    assert {"StateBytes", "KvCacheBytes", "StepTime"} <= {kind.__name__ for kind in sums}
    assert all(issubclass(kind, Answer) for kind in sums)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ModelShape(layer=1), "ModelShape has no field `layer`; its fields are layers, hidden"),
        (lambda: ModelShape(), "ModelShape: layers, hidden are missing; its fields are layers, hidden"),
        (
            lambda: StateBytes(2, 2, 4),
            "StateBytes: moments is missing; its fields are weights, gradients, master, moments",
        ),
        (lambda: StateBytes("2", 2, 4, 8), "StateBytes: weights: a number is needed here, not str"),
        (lambda: ModelShape(1, True), "ModelShape: hidden: a number is needed here, not bool"),
        (lambda: ModelShape(1, 2, 3), "ModelShape takes 2 values (layers, hidden), not 3"),
        (lambda: ModelShape(1, 2, layers=1), "ModelShape: layers is given twice, by place and by name"),
        (lambda: ModelShape(1, self=2), "ModelShape has no field `self`; its fields are layers, hidden"),
        (
            lambda: LaunchTimes(1, 2, 3, "gpu"),
            "LaunchTimes: bound: input should be 'launch' or 'device', got 'gpu'",
        ),
        (
            lambda: OpCost("a", "memory", 0, COST),
            "OpCost: count: input should be greater than or equal to 1, got 0",
        ),
        (lambda: FusedCost(COST, {"flops": 1}), "FusedCost: after.bytes_read: field required and not given"),
    ],
)
def test_what_does_not_fit_is_one_line(make, said):
    with pytest.raises(SpecError) as caught:
        make()
    assert str(caught.value).startswith(said)
    assert len(str(caught.value).splitlines()) == 1


def test_an_array_in_place_of_a_name_is_still_one_line():
    with pytest.raises(SpecError, match=r"^OpCost: name: [^\n]*$"):
        OpCost(np.zeros((3, 3)), "memory", 1, COST)


def test_validation_goes_its_own_way():
    """What came over the wire is read by pydantic alone: its errors, and nothing by place."""
    with pytest.raises(ValidationError):
        ModelShape.model_validate({"layers": 1})
    with pytest.raises(ValidationError):
        ModelShape.model_validate({1: 1, None: 2})
    with pytest.raises(ValidationError):
        ModelShape.model_validate((1, 2))
