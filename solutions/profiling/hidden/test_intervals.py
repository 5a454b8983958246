"""Hidden checks of intervals.py: drawn intervals and traces against the reference."""

import pytest

from grader.checks import traced
from specs.traces import make_trace


def check_unions(submission, expect, oracle, drawn, case):
    """Every union is asked for before the first is compared."""
    got = [submission.profiling.union(list(given)) for given in drawn]
    for answer, given in zip(got, drawn, strict=True):
        traced.intervals(expect, answer, oracle.profiling.union(given), case)


def intervals(rng, count, spread, longest):
    """Some intervals that begin below `spread`."""
    starts = [rng.randrange(spread) for _ in range(count)]
    return [(start, start + rng.randint(1, longest)) for start in starts]


@pytest.mark.exercise("profiling.busy_intervals", weight=2)
def test_any_union(submission, expect, oracle, rng):
    """Intervals that overlap here and there, in any order."""
    drawn = [intervals(rng, rng.randint(2, 40), 400, 20) for _ in range(8)]
    check_unions(submission, expect, oracle, drawn, "drawn intervals")


@pytest.mark.exercise("profiling.busy_intervals")
def test_any_nesting(submission, expect, oracle, rng):
    """A few long intervals with many short ones inside, and some across the end."""
    drawn = [
        [*intervals(rng, 3, 1000, 400), *intervals(rng, rng.randint(10, 30), 1400, 30)] for _ in range(6)
    ]
    check_unions(submission, expect, oracle, drawn, "long and short intervals")


@pytest.mark.exercise("profiling.busy_intervals")
def test_any_touching_and_empty_intervals(submission, expect, oracle, rng):
    """Chains in which one begins where another ends, gaps of 1, and intervals that hold nothing."""
    drawn = []
    for _ in range(6):
        at, chain = rng.randrange(50), []
        for _ in range(rng.randint(4, 12)):
            at += rng.choice((0, 0, 1, 5))
            length = rng.choice((0, 1, 3, 9))
            chain.append((at, at + length))
            at += length
        rng.shuffle(chain)
        drawn.append(chain)
    check_unions(submission, expect, oracle, drawn, "chains of intervals")


def events_of(rng, **options):
    """A short drawn trace, without most of its launches and arrows."""
    events = make_trace(rng.getrandbits(48), steps=1, step_ns=1_000_000, **options)[0]["traceEvents"]
    noise = ("ac2g", "cuda_runtime", "hip_runtime", "cpu_op")
    return [event for event in events if event.get("cat") not in noise or rng.random() < 0.1]


def check_busy(submission, expect, oracle, traces, case):
    """Every trace is asked for before the first is compared."""
    got = [submission.profiling.busy_intervals(events) for events in traces]
    for answer, events in zip(got, traces, strict=True):
        traced.intervals(expect, answer, oracle.profiling.busy_intervals(events), case)


@pytest.mark.exercise("profiling.busy_intervals", weight=2)
def test_any_trace(submission, expect, oracle, rng):
    """Traces with three streams, annotations, operators and launches, to the nanosecond."""
    traces = [
        events_of(rng, mostly=mostly, ranks=2) for mostly in ("matmul", "exposed_communication", "copy")
    ]
    check_busy(submission, expect, oracle, traces, "a drawn trace")


@pytest.mark.exercise("profiling.busy_intervals")
def test_whole_microseconds_and_amd(submission, expect, oracle, rng):
    """Traces as Kineto wrote them until PyTorch 2.2, in whole microseconds, and two of an AMD card."""
    # A step that waits on the host: in others the tenth of its operators that is kept may all run under kernels.
    waits = events_of(rng, mostly="idle_host", device="rocm")
    traces = [events_of(rng, whole_microseconds=True), events_of(rng, device="rocm"), waits]
    check_busy(submission, expect, oracle, traces, "a drawn trace")


@pytest.mark.exercise("profiling.busy_intervals")
def test_broken_events_do_not_count(submission, expect, rng):
    """Events without dur or ts, with a negative dur, with a time that is a string or no number."""
    start, length = 1000 * rng.randint(50, 90), 1000 * rng.randint(5, 9)
    good = traced.kernel("matmul", start, start + length)
    broken = [
        {key: value for key, value in good.items() if key != "dur"},
        {key: value for key, value in good.items() if key != "ts"},
        {**good, "dur": -3.0, "ts": 9.0},
        {**good, "dur": float("nan"), "ts": 11.0},
        {**good, "ts": float("inf")},
        {**good, "ts": "17.0"},
        {**good, "ts": 30.0, "dur": None},
        {**good, "ts": 40.0, "dur": 0.0},
    ]
    later = traced.kernel("copy", start + 2 * length, start + 3 * length)
    traces = [[*broken, good], [good, *broken, later]]
    got = [submission.profiling.busy_intervals(events) for events in traces]
    one, two = (start, start + length), (start + 2 * length, start + 3 * length)
    traced.intervals(expect, got[0], [one], "broken events and one that is not")
    traced.intervals(expect, got[1], [one, two], "broken events and two that are not")
