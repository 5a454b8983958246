"""Intervals are merged in the order in which they come."""

from collections.abc import Iterable

EXERCISE = "busy_intervals"
HINT = "A trace is in no order: sort by start before you merge neighbours."
FAILS = (
    "test_intervals_come_in_any_order",
    "test_any_union",
    "test_any_nesting",
    "test_any_touching_and_empty_intervals",
)


def union(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in intervals:
        if end <= start:
            continue
        if merged and merged[-1][0] <= start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
