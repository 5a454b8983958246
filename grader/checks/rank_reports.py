"""What scenarios told of each rank, once it has the form that they give it: the ranks ran a student's code."""

from collections.abc import Mapping
from typing import Any

from grader.checks.expect import Expect


def reports(expect: Expect, seen: Any, ranks: int, fields: Mapping[str, type]) -> list[dict[str, Any]]:
    """The report of each rank.

    Args:
        expect: of the check.
        seen: the call on ranks.
        ranks: how many there were.
        fields: names that every report has, and the types of their values.

    Raises:
        CheckFailed: what came back is something else.
    """
    told = list(seen.values)
    whole = len(told) == ranks and all(
        isinstance(value, dict) and all(type(value.get(name)) is kind for name, kind in fields.items())
        for value in told
    )
    expect.that(whole, "no whole report of the ranks came back")
    return told


def rows(expect: Expect, got: Any, count: int) -> list[Any]:
    """`got`, a list of that many.

    Raises:
        CheckFailed: it is something else.
    """
    expect.that(isinstance(got, list) and len(got) == count, "no whole report of the ranks came back")
    found: list[Any] = got
    return found


def same(got: Any, wanted: Any) -> bool:
    """Whether `got` is a tensor of the same format, shape and values."""
    import torch

    return isinstance(got, torch.Tensor) and got.dtype == wanted.dtype and torch.equal(got, wanted)
