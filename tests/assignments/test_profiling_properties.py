"""The profiling solutions against a clock that ticks: what each nanosecond of a small trace is, decided one by one."""

import ast
import copy
import itertools
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grader.checks import traced
from grader.checks.mistakes import load_solution
from specs import Event, KernelClass, StepBreakdown
from tests.drawn import DRAWN

SOLUTIONS = Path(__file__).parents[2] / "solutions"
intervals = load_solution(SOLUTIONS, "profiling", "intervals.py")
breakdown = load_solution(SOLUTIONS, "profiling", "breakdown.py")
END = 60

spans = st.tuples(st.integers(0, END), st.integers(0, END)).map(lambda pair: (min(pair), max(pair)))
kernels = st.lists(st.tuples(st.sampled_from(sorted(traced.KERNELS)), spans), max_size=8)
OPERATORS: dict[str, KernelClass] = {
    "aten::mm": "matmul",
    "aten::add": "memory_bound",
    "aten::_flash": "attention",
}


def at(spans_: list[tuple[int, int]], tick: int) -> bool:
    return any(start <= tick < end for start, end in spans_)


def by_ticks(
    step: tuple[int, int], work: list[tuple[KernelClass, tuple[int, int]]], loaders: list[tuple[int, int]]
) -> dict[str, int]:
    """Nanoseconds of each part of a step, decided tick by tick."""
    parts = dict.fromkeys(traced.PARTS, 0)
    for tick in range(*step):
        parts["duration_s"] += 1
        running = {kind for kind, (start, end) in work if start <= tick < end}
        first = next(
            (kind for kind in ("matmul", "attention", "memory_bound", "copy") if kind in running), ""
        )
        if first:
            parts[f"{first}_s"] += 1
            parts["overlapped_communication_s"] += "communication" in running
        elif running:
            parts["exposed_communication_s"] += 1
        elif at(loaders, tick):
            parts["idle_data_s"] += 1
        else:
            parts["idle_host_s"] += 1
    return parts


def in_ns(step: StepBreakdown) -> dict[str, int]:
    return {name: round(1e9 * getattr(step, name)) for name in traced.PARTS}


@DRAWN
@given(st.lists(spans, max_size=12))
def test_a_union_holds_each_tick_that_an_interval_holds_and_no_other(given_: list[tuple[int, int]]) -> None:
    merged = intervals.union(given_)
    assert [at(merged, tick) for tick in range(END)] == [at(given_, tick) for tick in range(END)]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(merged))
    assert intervals.union(merged) == merged


@DRAWN
@given(
    spans.filter(lambda span: span[0] < span[1]), kernels, st.lists(spans, max_size=3), st.integers(0, 10**15)
)
def test_every_tick_of_a_step_goes_where_the_rules_say(
    step: tuple[int, int], work: Any, loaders: list[tuple[int, int]], late: int
) -> None:
    """Also late in a trace; a copy outside of every step makes it one of a device."""
    device = [*work, ("copy", (END + 5, END + 6))]
    events: list[Event] = [traced.step(3, late + step[0], late + step[1])]
    events += [traced.loader(late + start, late + end) for start, end in loaders]
    events += [
        traced.kernel(kind, late + start, late + end, stream=stream)
        for stream, (kind, (start, end)) in enumerate(device)
    ]
    before = copy.deepcopy(events)
    (found,) = breakdown.step_breakdown(events, traced.KINDS)
    assert events == before
    assert in_ns(found) == by_ticks(step, device, loaders)
    assert round(1e9 * found.total_s) == step[1] - step[0]


def nested(start: int, end: int, depth: int = 0) -> st.SearchStrategy[list[tuple[str, int, int, int]]]:
    """Operators (name, start, end, depth) that nest as calls do, at least 2 ns each."""
    if end - start < 2 or depth > 3:
        return st.just([])

    def build(drawn: Any) -> st.SearchStrategy[list[tuple[str, int, int, int]]]:
        name, (left, right), cut = drawn
        if right - left < 2:
            return st.just([])
        inside, beside = nested(left + 1, right - 1, depth + 1), nested(right, end, depth)
        own = [(name, left, right, depth)]
        if cut:
            return st.tuples(inside, beside).map(lambda both: [*own, *both[0], *both[1]])
        return inside.map(lambda found: [*own, *found])

    inner = st.tuples(st.integers(start, end), st.integers(start, end)).map(
        lambda pair: (min(pair), max(pair))
    )
    return st.tuples(st.sampled_from(sorted(OPERATORS)), inner, st.booleans()).flatmap(build)


@DRAWN
@given(nested(0, END), st.lists(spans, max_size=2), st.randoms(use_true_random=False))
def test_on_the_cpu_every_tick_belongs_to_the_innermost_operator(
    ops: list[tuple[str, int, int, int]], loaders: list[tuple[int, int]], shuffle: Any
) -> None:
    events: list[Event] = [traced.step(1, 0, END), *(traced.loader(*span) for span in loaders)]
    events += [traced.operator(name, start, end) for name, start, end, _ in ops]
    shuffle.shuffle(events)
    work: list[tuple[KernelClass, tuple[int, int]]] = []
    for tick in range(END):
        around = [(depth, name) for name, start, end, depth in ops if start <= tick < end]
        if around and not at(loaders, tick):
            work.append((OPERATORS[max(around)[1]], (tick, tick + 1)))
    (found,) = breakdown.step_breakdown(events, OPERATORS)
    assert in_ns(found) == by_ticks((0, END), work, loaders)


def test_broken_events_break_no_step() -> None:
    """Missing, negative, infinite, textual times; no name, no args, no category; and a step of no length."""
    good = traced.kernel("matmul", 10, 30)
    events: list[Event] = [
        traced.step(1, 0, 100),
        good,
        {**good, "dur": -5.0},
        {**good, "ts": float("nan")},
        {**good, "dur": float("inf")},
        {**good, "ts": "0.04"},
        {key: value for key, value in good.items() if key != "dur"},
        {"ph": "X", "ts": 0.0, "dur": 1.0},
        {"ph": "M", "name": "thread_name", "args": {"name": "python"}},
        {"ph": "X", "cat": "user_annotation", "ts": 0.0, "dur": 1.0},
        {"ph": "X", "cat": "kernel", "ts": 0.05, "dur": 0.01},
        {**traced.kernel("memory_bound", 60, 65), "args": None},
        {**traced.step(2, 0, 100), "dur": None},
        traced.step(3, 40, 40),
    ]
    first, last = breakdown.step_breakdown(events, traced.KINDS)
    work: list[tuple[KernelClass, tuple[int, int]]] = [
        ("matmul", (10, 30)),
        ("memory_bound", (50, 60)),  # the kernel without a name
        ("memory_bound", (60, 65)),
    ]
    assert in_ns(first) == by_ticks((0, 100), work, [])
    assert (last.step, last.total_s) == (3, 0)
    assert breakdown.step_breakdown([], traced.KINDS) == []


def test_hidden_traces_are_drawn_from_more_seeds_than_anybody_tabulates() -> None:
    """With 10**6 of them, a trace's own numbers would name its seed, and the seed its truth."""
    seeds = [
        ast.unparse(node.args[0])
        for path in sorted((SOLUTIONS / "profiling" / "hidden").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "make_trace" and node.args
    ]
    assert seeds
    assert set(seeds) == {"rng.getrandbits(48)"}
