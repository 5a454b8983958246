"""Hidden checks of breakdown.py: drawn traces whose truth is known by how they were made."""

from dataclasses import asdict

import pytest

from grader.checks import traced
from grader.checks.traced import KINDS, kernel, loader, operator, step, twin
from specs import DEVICE_CATEGORIES
from specs.trace_names import NAMES
from specs.traces import LOADER_WITH_WORKERS, Piece, make_trace

# Of the traces' names: the check is of intervals, and not of names once more.
CLASSES = {name: work for device in NAMES.values() for work, names in device.items() for name in names} | {
    "aten::linear": "matmul",
    "aten::matmul": "matmul",
    "aten::scaled_dot_product_attention": "attention",
}


def check_traces(submission, expect, rng, traces, case):
    """Every trace is asked for before the first is compared."""
    got = [submission.profiling.step_breakdown(thinned(rng, trace), CLASSES) for trace, _ in traces]
    for answer, (_, truths) in zip(got, traces, strict=True):
        wanted = [
            {key.replace("_ns", "_s"): value for key, value in asdict(truth).items()} for truth in truths
        ]
        traced.breakdowns(expect, answer, wanted, case)


def thinned(rng, trace):
    """The events but for most launches and arrows: those are many, and every mistake is tried on every event."""
    events = trace["traceEvents"]
    launches = any(event.get("cat") in DEVICE_CATEGORIES for event in events)
    noise = ("ac2g", "cuda_runtime", "hip_runtime", *(("cpu_op",) if launches else ()))
    return [event for event in events if event.get("cat") not in noise or rng.random() < 0.1]


def drawn(rng, mostly, **options):
    """Two short steps."""
    return make_trace(rng.getrandbits(48), mostly=mostly, steps=2, step_ns=1_500_000, **options)


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_any_step_of_work(submission, expect, rng):
    """Steps of matmul, attention, memory-bound kernels and copies over three streams, that overlap and nest."""
    traces = [drawn(rng, mostly) for mostly in ("matmul", "attention", "memory_bound", "copy")]
    check_traces(submission, expect, rng, traces, "a step of work")


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_any_communication(submission, expect, rng):
    """Collectives beside work and alone, on a stream of their own."""
    ns = rng.randint(20_000, 60_000)
    hidden_by_all = [Piece(kind, ns, ns // rng.randint(2, 5)) for kind in ("memory_bound", "copy", "matmul")]
    pieces = [[*hidden_by_all, Piece("exposed_communication", ns), Piece("idle_host", ns)]]
    traces = [
        drawn(rng, "exposed_communication", ranks=4),
        drawn(rng, "matmul", ranks=4),
        make_trace(rng.getrandbits(48), pieces=pieces, ranks=4),
    ]
    check_traces(submission, expect, rng, traces, "a step of several ranks")


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_any_loader(submission, expect, rng):
    """Steps that wait on a loader with and without workers, partly under kernels."""
    ns = rng.randint(20_000, 60_000)
    under_kernels = [[Piece(kind, ns) for kind in ("matmul", "idle_data", "memory_bound", "idle_host")]]
    traces = [
        drawn(rng, "idle_data"),
        drawn(rng, "idle_data", loader=LOADER_WITH_WORKERS),
        *(make_trace(rng.getrandbits(48), pieces=under_kernels) for _ in range(3)),
    ]
    check_traces(submission, expect, rng, traces, "a step that waits on data")


@pytest.mark.exercise("profiling.step_breakdown")
def test_a_gap_between_steps_belongs_to_none(submission, expect, rng):
    """Work between steps, across their borders and after the last; steps 9, 10 and 11 in no order."""
    tick = rng.randint(3, 9)
    events = [
        step(11, 300 * tick, 400 * tick),
        step(9, 0, 100 * tick),
        step(10, 150 * tick, 250 * tick),
        twin(10, 150 * tick, 250 * tick),
        kernel("matmul", 90 * tick, 160 * tick),
        kernel("memory_bound", 240 * tick, 420 * tick),
        kernel("communication", 50 * tick, 170 * tick, stream=24),
        loader(0, 10 * tick),
    ]
    full = {"step": 0, "duration_s": 100 * tick}
    nine = {
        **full,
        "step": 9,
        "matmul_s": 10 * tick,
        "exposed_communication_s": 40 * tick,
        "overlapped_communication_s": 10 * tick,
        "idle_data_s": 10 * tick,
        "idle_host_s": 40 * tick,
    }
    ten = {
        **full,
        "step": 10,
        "matmul_s": 10 * tick,
        "memory_bound_s": 10 * tick,
        "exposed_communication_s": 10 * tick,
        "overlapped_communication_s": 10 * tick,
        "idle_host_s": 70 * tick,
    }
    eleven = {**full, "step": 11, "memory_bound_s": 100 * tick}
    got = [submission.profiling.step_breakdown(given, KINDS) for given in (events, events[1:])]
    traced.breakdowns(expect, got[0], [nine, ten, eleven], "three steps with gaps")
    traced.breakdowns(expect, got[1], [nine, ten], "two steps with gaps")


@pytest.mark.exercise("profiling.step_breakdown", weight=2)
def test_any_trace_of_the_cpu_alone(submission, expect, rng):
    """Operators in operators and in autograd's nodes, and a loader, without a device."""
    traces = [drawn(rng, mostly, device="cpu") for mostly in ("matmul", "memory_bound", "idle_data")]
    check_traces(submission, expect, rng, traces, "a step on the CPU")


@pytest.mark.exercise("profiling.step_breakdown")
def test_operators_in_operators_of_another_class(submission, expect, rng):
    """Three deep, on two threads, with autograd's nodes around them and the loader's operators before."""
    tick = rng.randint(3, 9)
    ops = [
        ("aten::linear", 100, 200),
        ("aten::add", 110, 150),
        ("aten::addmm", 120, 130),
        ("aten::add", 160, 170),
        ("AddmmBackward0", 210, 290),
        ("autograd::engine::evaluate_function: AddmmBackward0", 205, 295),
        ("aten::addmm", 220, 280),
        ("aten::stack", 10, 60),
    ]
    events = [operator(name, start * tick, end * tick) for name, start, end in ops]
    other = operator("aten::add", 190 * tick, 240 * tick, thread=2)
    around = [step(3, 0, 300 * tick), loader(0, 80 * tick)]
    kinds = {"aten::linear": "matmul", "aten::addmm": "matmul", "aten::add": "memory_bound"}
    kinds["aten::stack"] = "memory_bound"
    alone = {
        "step": 3,
        "duration_s": 300 * tick,
        "matmul_s": 120 * tick,
        "memory_bound_s": 40 * tick,
        "idle_data_s": 80 * tick,
        "idle_host_s": 60 * tick,
    }
    both = {**alone, "memory_bound_s": 60 * tick, "idle_host_s": 40 * tick}
    given = ([*events, *around], [*events, other, *around])
    got = [submission.profiling.step_breakdown(each, kinds) for each in given]
    traced.breakdowns(expect, got[0], [alone], "one thread")
    traced.breakdowns(expect, got[1], [both], "two threads")
