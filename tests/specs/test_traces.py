"""The generator of traces: its truth is what the solution finds, its events are what a profiler writes."""

import json
from pathlib import Path

import pytest

from grader.calls.runner import LocalRunner, Request
from specs import StepBreakdown
from specs.traces import (
    LOADER_WITH_WORKERS,
    Piece,
    StepTruth,
    draw_pieces,
    make_ranks,
    make_trace,
    write_trace,
)

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
WORKS = ("matmul", "attention", "memory_bound", "copy")
KINDS = (*WORKS, "exposed_communication", "idle_data", "idle_host")


@pytest.fixture(scope="module")
def breakdown():
    """The reference solution's step_breakdown."""
    runner = LocalRunner(SOLUTIONS)

    def call(events: list) -> list[StepBreakdown]:
        return runner.run_uncopied(Request("profiling", "breakdown.py", "step_breakdown", (events,)))

    yield call
    runner.close()


def assert_recovered(found: list[StepBreakdown], truths: list[StepTruth]) -> None:
    """Every field within a microsecond: a float of a real `ts` is itself off by half a nanosecond."""
    assert [each.step for each in found] == [each.step for each in truths]
    for each, truth in zip(found, truths, strict=True):
        for name, seconds in truth.seconds().items():
            assert getattr(each, name) == pytest.approx(seconds, abs=1e-6), (truth.step, name)


@pytest.mark.parametrize("mostly", KINDS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_solution_recovers_the_truth_whatever_a_step_is_spent_on(breakdown, seed, mostly):
    trace, truths = make_trace(seed, mostly=mostly, ranks=2)
    assert_recovered(breakdown(trace["traceEvents"]), truths)
    shares = {name: getattr(truths[0], f"{name}_ns") for name in KINDS}
    assert max(shares, key=shares.get) == mostly


@pytest.mark.parametrize(
    "options",
    [
        {"device": "rocm"},
        {"device": "cpu", "mostly": "idle_data"},
        {"device": "cpu", "nested": False},
        {"streams": 1, "mostly": "exposed_communication"},
        {"streams": 6, "ranks": 8, "rank": 5},
        {"nested": False, "straddling": False, "shuffled": False},
        {"whole_microseconds": True, "mostly": "exposed_communication"},
        {"shapes": False, "first_step": 0, "steps": 7, "step_ns": 400_000},
        {"loader": LOADER_WITH_WORKERS, "mostly": "idle_data"},
    ],
    ids=str,
)
def test_the_solution_recovers_the_truth_under_every_option(breakdown, options):
    trace, truths = make_trace(5, **options)
    assert_recovered(breakdown(trace["traceEvents"]), truths)


def test_pieces_are_the_truth_to_the_nanosecond():
    pieces = [Piece("idle_data", 1_001), Piece("matmul", 5_000, beside_ns=2_003), Piece("idle_host", 7)]
    pieces += [Piece("exposed_communication", 999), Piece("matmul", 1)]
    _, (truth,) = make_trace(pieces=[pieces])
    assert truth == StepTruth(
        step=10,
        duration_ns=7_008,
        matmul_ns=5_001,
        exposed_communication_ns=999,
        overlapped_communication_ns=2_003,
        idle_data_ns=1_001,
        idle_host_ns=7,
    )
    assert truth.seconds()["idle_host_s"] == 7e-9


def test_parts_sum_to_the_step_without_what_is_overlapped():
    _, truths = make_trace(3, mostly="exposed_communication")
    for truth in truths:
        assert truth.overlapped_communication_ns > 0
        assert sum(getattr(truth, f"{name}_ns") for name in KINDS) == truth.duration_ns


def test_the_same_arguments_write_the_same_bytes(tmp_path):
    for name in ("one.json.gz", "two.json.gz"):
        write_trace(make_trace(4, mostly="idle_data")[0], tmp_path / name)
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "two.json.gz").read_bytes()
    assert make_trace(4)[0] != make_trace(5)[0]


def test_kernels_nest_touch_overlap_and_lie_across_the_border_of_steps():
    trace, truths = make_trace(2, ranks=2)
    work = [each for each in trace["traceEvents"] if each.get("cat") == "kernel"]
    spans = sorted((round(1000 * each["ts"]), round(1000 * each["dur"])) for each in work)
    ends = {begin + length for begin, length in spans}
    assert any(begin in ends for begin, _ in spans), "none touch"
    inside = [
        (a, b)
        for a in work
        for b in work
        if a is not b and a["ts"] < b["ts"] and ends_after(a, b["ts"] + b["dur"])
    ]
    assert inside, "none nest"
    busy = sum(each["dur"] for each in work) / 1e3
    assert busy > sum(truth.duration_ns for truth in truths) / 1e6, "no overlap: a sum would do for a union"
    pieces = [[Piece("matmul", 9_000)], [Piece("matmul", 9_000)]]
    across = make_trace(pieces=pieces)[0]["traceEvents"]
    border = min(each["ts"] for each in across if each["name"] == "ProfilerStep#11")
    assert any(
        each.get("cat") == "kernel" and each["ts"] < border < each["ts"] + each["dur"] for each in across
    )


def ends_after(event: dict, end: float) -> bool:
    return event["ts"] + event["dur"] > end


def test_a_trace_has_what_a_profiler_writes():
    trace, _ = make_trace(1, ranks=4, rank=3)
    assert trace["schemaVersion"] == 1
    assert trace["deviceProperties"][0]["name"] == "NVIDIA H100 80GB HBM3"
    assert trace["distributedInfo"]["rank"] == 3
    assert trace["distributedInfo"]["world_size"] == 4
    by_category = {each.get("cat") for each in trace["traceEvents"]}
    assert by_category >= {
        "kernel",
        "cpu_op",
        "cuda_runtime",
        "user_annotation",
        "gpu_user_annotation",
        "ac2g",
    }
    kernels = [each for each in trace["traceEvents"] if each.get("cat") == "kernel"]
    launches = {
        each["args"]["correlation"] for each in trace["traceEvents"] if each.get("cat") == "cuda_runtime"
    }
    assert all(each["args"]["correlation"] in launches for each in kernels)
    assert all(each["args"]["stream"] == each["tid"] and each["pid"] == 3 for each in kernels)
    for each in trace["traceEvents"]:
        if each["ph"] == "X":
            assert len(json.dumps(each["dur"]).partition(".")[2]) <= 3
    assert {each["name"] for each in trace["traceEvents"] if each["ph"] == "M"} >= {
        "process_name",
        "thread_name",
    }


def test_whole_microseconds_are_integers():
    trace, _ = make_trace(1, whole_microseconds=True)
    assert all(isinstance(each["ts"], int) for each in trace["traceEvents"] if each["ph"] == "X")


def test_a_trace_of_the_cpu_has_no_device_in_it():
    trace, _ = make_trace(1, device="cpu")
    assert trace["deviceProperties"] == []
    categories = {each.get("cat") for each in trace["traceEvents"] if each["ph"] == "X"}
    assert categories == {"cpu_op", "user_annotation", "Trace"}


def test_ranks_step_together_and_all_but_the_straggler_wait(breakdown):
    made = make_ranks(4, straggler=2, seed=6)
    for trace, truths in made:
        assert_recovered(breakdown(trace["traceEvents"]), truths)
    durations = [[truth.duration_ns for truth in truths] for _, truths in made]
    assert all(each == durations[0] for each in durations)
    exposed = [truths[0].exposed_communication_ns for _, truths in made]
    assert exposed[2] == 200_000
    assert min(exposed[:2] + exposed[3:]) > 1_000_000


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="needs a length above 0"):
        Piece("matmul", 0)
    with pytest.raises(ValueError, match="collectives beside work"):
        Piece("idle_host", 10, beside_ns=5)
    with pytest.raises(ValueError, match="neither copies nor communication"):
        make_trace(pieces=[[Piece("copy", 10)]], device="cpu")
    with pytest.raises(ValueError, match="on one stream"):
        make_trace(pieces=[[Piece("matmul", 10, beside_ns=5)]], streams=1)


def test_drawn_pieces_take_about_the_time_asked_for():
    assert sum(each.ns for each in draw_pieces(1, "copy", 5_000_000)) == pytest.approx(5_000_000, rel=0.3)
