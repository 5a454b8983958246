"""Intervals that touch are left as two."""

from collections.abc import Iterable

EXERCISE = "busy_intervals"
HINT = (
    "An interval that begins where another ends leaves no gap between them: they are one. Compare "
    "with <=, and not with <."
)
FAILS = (
    "test_touching_intervals_are_one_and_empty_ones_are_none",
    "test_any_union",
    "test_any_touching_and_empty_intervals",
)


def union(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
