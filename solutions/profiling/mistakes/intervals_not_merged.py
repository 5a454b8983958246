"""Intervals are sorted and not merged."""

from collections.abc import Iterable

EXERCISE = "busy_intervals"
HINT = (
    "Intervals that overlap must become one: summed as they are, the time that two streams share "
    "counts twice."
)
FAILS = (
    "test_overlapping_intervals_become_one",
    "test_a_nested_interval_does_not_cut_the_outer_one_short",
    "test_intervals_come_in_any_order",
    "test_touching_intervals_are_one_and_empty_ones_are_none",
    "test_any_union",
    "test_any_nesting",
    "test_any_touching_and_empty_intervals",
)


def union(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(each for each in intervals if each[0] < each[1])
