"""The probe `raised` tells a ValueError from another exception and from an answer, and lets the stub's own through."""

from typing import NoReturn

import pytest

from grader.worker.probes import probe
from specs import SpecError

run = probe("raised")


def raising(error: BaseException) -> NoReturn:
    raise error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such size"), "ValueError"),
        (SpecError("a kind of ValueError"), "ValueError"),
        (TypeError("not that one"), "other"),
        (ZeroDivisionError(), "other"),
    ],
)
def test_names_only_the_kind_that_counts(error: Exception, said: str) -> None:
    assert run(raising, error) == said


@pytest.mark.parametrize("value", [None, 0, "ValueError", ValueError("returned, not raised")])
def test_an_answer_is_no_refusal(value: object) -> None:
    assert run(lambda: value) == ""


def test_the_stub_is_seen_as_still_to_do() -> None:
    with pytest.raises(NotImplementedError):
        run(raising, NotImplementedError("write me"))


def test_arguments_are_handed_on() -> None:
    assert run(lambda size, *, unit: raising(ValueError()) if (size, unit) == (3, "B") else None, 3, unit="B")
