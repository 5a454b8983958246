"""A merged interval ends where the last one of it ends."""

from collections.abc import Iterable

EXERCISE = "busy_intervals"
HINT = (
    "An interval that lies inside another one ends before it does: the end of the merged one is the "
    "larger of the two ends."
)
FAILS = (
    "test_a_nested_interval_does_not_cut_the_outer_one_short",
    "test_any_union",
    "test_any_nesting",
)


def union(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged
