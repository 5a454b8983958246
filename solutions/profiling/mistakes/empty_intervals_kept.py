"""An interval that holds nothing is kept."""

from collections.abc import Iterable

EXERCISE = "busy_intervals"
HINT = (
    "An interval whose end is its start holds no point: it is no part of a union. Kernels of length 0 "
    "are in many traces."
)
FAILS = (
    "test_touching_intervals_are_one_and_empty_ones_are_none",
    "test_any_touching_and_empty_intervals",
)


def union(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
