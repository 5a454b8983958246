# %% [markdown]
# # When the device is busy
#
# Section 2 of the handout, `README.md`: streams overlap, so busy time is a union and no sum.

# %%
"""Unions of intervals, and when a trace's device was busy, in whole nanoseconds."""

import math
from collections.abc import Iterable, Sequence

from specs import DEVICE_CATEGORIES, Event

Interval = tuple[int, int]
"""(start, end), the end not included; in nanoseconds where times are meant."""


# %% nbgrader={"grade": false, "grade_id": "profiling.union", "locked": false, "schema_version": 3, "solution": true, "task": false}
def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The points that lie in at least one interval, as disjoint intervals.

    Args:
        intervals: (start, end) pairs in any order; they may overlap, touch, nest or be equal. One whose end is not
            behind its start holds nothing.

    Returns:
        Intervals in ascending order, none empty, with a gap between any two: those that touch are one. The
        argument stays as it was.
    """
    ### BEGIN SOLUTION
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "profiling.busy_intervals", "locked": false, "schema_version": 3, "solution": true, "task": false}
def busy_intervals(events: Sequence[Event]) -> list[Interval]:
    """When at least one kernel, memory copy or memory set ran on the device.

    Args:
        events: of one rank's trace, in any order. Device work is a complete event (`ph` is "X") whose `cat` is one
            of DEVICE_CATEGORIES: "kernel", "gpu_memcpy", "gpu_memset". `ts` and `dur` are microseconds, integers or
            floats with three decimals. An event without `ts` or `dur`, or with one that is no finite number (a
            string is none), or with a negative `dur`, is broken and does not count.

    Returns:
        The union in whole nanoseconds: an event is from round(1000 · ts) to that plus round(1000 · dur). So late a
        `ts` as real traces have fills a float: ts + dur would already have lost the nanoseconds.

    Source: the Chrome trace event format; PyTorch's Kineto writes `ts` since `baseTimeNanoseconds`.
    """
    ### BEGIN SOLUTION
    found = []
    for event in events:
        if event.get("ph") != "X" or event.get("cat") not in DEVICE_CATEGORIES:
            continue
        times = (event.get("ts"), event.get("dur"))
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in times):
            continue
        start, length = (round(1000 * each) for each in times)
        found.append((start, start + length))
    return union(found)
    ### END SOLUTION
