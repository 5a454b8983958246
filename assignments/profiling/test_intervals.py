"""Visible checks of intervals.py: unions, and when the device is busy."""

import pytest

from grader.checks import traced


def check_unions(submission, expect, wanted):
    """Every union is asked for before the first is compared."""
    got = {case: submission.profiling.union(given) for case, (given, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        traced.intervals(expect, got[case], right, case)


def check_busy(submission, expect, wanted):
    """Every trace is asked for before the first is compared."""
    got = {case: submission.profiling.busy_intervals(events) for case, (events, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        traced.intervals(expect, got[case], right, case)


@pytest.mark.exercise("profiling.busy_intervals")
def test_overlapping_intervals_become_one(submission, expect):
    """(0, 6) and (4, 9) are (0, 9); (20, 30) lies apart."""
    check_unions(
        submission,
        expect,
        {
            "two that overlap": ([(0, 6), (4, 9)], [(0, 9)]),
            "two that overlap and one apart": ([(0, 6), (4, 9), (20, 30)], [(0, 9), (20, 30)]),
            "no interval": ([], []),
        },
    )


@pytest.mark.exercise("profiling.busy_intervals")
def test_a_nested_interval_does_not_cut_the_outer_one_short(submission, expect):
    """(0, 100) with (10, 20) inside still ends at 100."""
    check_unions(
        submission,
        expect,
        {
            "one inside": ([(0, 100), (10, 20)], [(0, 100)]),
            "one inside, one across the end": ([(0, 100), (10, 20), (90, 110)], [(0, 110)]),
            "two equal ones": ([(5, 8), (5, 8)], [(5, 8)]),
        },
    )


@pytest.mark.exercise("profiling.busy_intervals")
def test_intervals_come_in_any_order(submission, expect):
    """A trace's streams are written one after the other: intervals are not sorted."""
    check_unions(
        submission,
        expect,
        {
            "late one first": ([(50, 60), (0, 10)], [(0, 10), (50, 60)]),
            "bridge last": ([(20, 30), (0, 10), (8, 22)], [(0, 30)]),
        },
    )


@pytest.mark.exercise("profiling.busy_intervals")
def test_touching_intervals_are_one_and_empty_ones_are_none(submission, expect):
    """(0, 5) and (5, 9) leave no gap between them; (7, 7) holds nothing."""
    check_unions(
        submission,
        expect,
        {
            "two that touch": ([(0, 5), (5, 9)], [(0, 9)]),
            "one apart by 1": ([(0, 5), (6, 9)], [(0, 5), (6, 9)]),
            "an empty one": ([(7, 7), (10, 12)], [(10, 12)]),
        },
    )


@pytest.mark.exercise("profiling.busy_intervals", weight=2)
def test_streams_that_overlap_are_busy_once(submission, expect):
    """Two kernels of 10 µs on two streams, 4 µs apart, keep the device busy for 14 µs."""
    two = [traced.kernel("matmul", 0, 10_000), traced.kernel("communication", 4000, 14_000, stream=24)]
    check_busy(
        submission,
        expect,
        {
            "two streams": (two, [(0, 14_000)]),
            "two streams, and a copy later": (
                [traced.kernel("copy", 20_000, 21_500, stream=3), *two],
                [(0, 14_000), (20_000, 21_500)],
            ),
        },
    )


@pytest.mark.exercise("profiling.busy_intervals", weight=2)
def test_nanoseconds_are_kept(submission, expect):
    """A kernel of 1.234 µs at 5150047226786.061 µs begins and ends at a whole nanosecond: round, and then add."""
    at = 5_150_047_226_786_061
    whole = {**traced.kernel("matmul", 0, 1000), "ts": 3_000_000_000_007, "dur": 5}
    apart = [traced.kernel("matmul", at, at + 1234), traced.kernel("matmul", at + 1235, at + 2000)]
    check_busy(
        submission,
        expect,
        {
            "1.234 µs": (apart[:1], [(at, at + 1234)]),
            "a gap of 1 ns": (apart, [(at, at + 1234), (at + 1235, at + 2000)]),
            "whole microseconds": ([whole], [(3_000_000_000_007_000, 3_000_000_000_012_000)]),
            # 1.001 as a float is a little less, and so is its thousandfold.
            "1.001 µs": ([traced.kernel("matmul", 0, 1001)], [(0, 1001)]),
        },
    )


@pytest.mark.exercise("profiling.busy_intervals", weight=2)
def test_annotations_and_the_cpu_keep_no_device_busy(submission, expect):
    """Of kernel, memcpy and memset the device is busy; an annotation's shadow on it is no work."""
    memset = traced.event("gpu_memset", "Memset (Device)", 6000, 6500)
    others = [
        traced.step(1, 0, 100_000),
        traced.twin(1, 2000, 90_000),
        traced.operator("aten::mm", 500, 900),
        traced.event("cuda_runtime", "cudaLaunchKernel", 600, 800, pid=1, tid=1),
        {"ph": "i", "cat": "kernel", "name": "mark", "ts": 50.0, "pid": 0, "tid": 7},
        {"ph": "M", "name": "process_name", "pid": 0, "ts": 0.0, "args": {"name": "python"}},
    ]
    check_busy(
        submission,
        expect,
        {
            "one kernel": ([*others, traced.kernel("matmul", 2000, 3000)], [(2000, 3000)]),
            "a memset and a copy": (
                [*others, memset, traced.kernel("copy", 8000, 9000)],
                [(6000, 6500), (8000, 9000)],
            ),
            "no work": (others, []),
        },
    )


@pytest.mark.exercise("profiling.busy_intervals")
def test_a_broken_event_does_not_count(submission, expect):
    """A kernel without dur, with a negative one, or with a string for its ts says nothing about the device."""
    good = traced.kernel("matmul", 5000, 7000)
    without = {key: value for key, value in good.items() if key != "dur"}
    check_busy(
        submission,
        expect,
        {
            "one without dur": ([without, good], [(5000, 7000)]),
            "one with a dur of -3": ([{**good, "ts": 20.0, "dur": -3.0}, good], [(5000, 7000)]),
            'one with a ts of "30.0"': ([good, {**good, "ts": "30.0"}], [(5000, 7000)]),
            "none that is sound": ([without], []),
        },
    )
