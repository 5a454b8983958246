"""Draws the handout's figures: `python -m solutions.profiling.figures [FOLDER]`.

Every number drawn comes from the reference solutions beside this file, on the traces of example.py and of
specs/traces.py; none is typed in, and none was measured. What the figures look like is in solutions/drawing.py.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from solutions.drawing import (
    BLUE,
    CORAL,
    FAINT,
    GREY,
    INK,
    PURPLE,
    SKY,
    YELLOW,
    axes,
    bars,
    canvas,
    draw,
    legend,
)
from solutions.profiling.breakdown import step_breakdown
from solutions.profiling.efficiency import kernel_efficiency
from solutions.profiling.example import DEEPEP, ROWS, STEP_US, deepseek, one_step
from solutions.profiling.intervals import busy_intervals
from solutions.profiling.remedies import remedy
from specs import Event, KernelClass, StepBreakdown, gpu
from specs.traces import Kind, make_trace

FOLDER = Path(__file__).parents[2] / "assignments" / "profiling" / "figures"
CARD = gpu("h100-sxm")
COLOURS = {
    "matmul": BLUE,
    "attention": SKY,
    "memory-bound": YELLOW,
    "copy": PURPLE,
    "exposed communication": CORAL,
    "idle, data": FAINT,
    "idle, host": GREY,
}
OF_CLASS = {
    "matmul": BLUE,
    "attention": SKY,
    "memory_bound": YELLOW,
    "copy": PURPLE,
    "communication": CORAL,
    "loader": FAINT,
}
PARTS = (
    "matmul_s",
    "attention_s",
    "memory_bound_s",
    "copy_s",
    "exposed_communication_s",
    "idle_data_s",
    "idle_host_s",
)


def _percent(step: StepBreakdown) -> list[float]:
    return [100 * getattr(step, part) / step.duration_s for part in PARTS]


def kernel_classes_figure() -> Figure:
    """A published step under two classifications: nccl alone, and every name of a collective."""
    naive: dict[str, KernelClass] = {DEEPEP: "memory_bound"}
    steps = {
        "nccl alone": step_breakdown(deepseek(), naive)[0],
        "all names": step_breakdown(deepseek())[0],
    }
    rows = {}
    for name, step in steps.items():
        compute_s = step.matmul_s + step.attention_s + step.memory_bound_s
        hidden_s = step.overlapped_communication_s
        rows[name] = [1000 * each for each in (compute_s - hidden_s, hidden_s, step.exposed_communication_s)]
    colours = {"compute alone": BLUE, "compute and communication": PURPLE, "communication alone": CORAL}
    figure = canvas(1.7)
    target = axes(figure, left=0.95, bottom=0.5, right=0.3, top=0.4)
    bars(target, rows, list(colours.values()))
    legend(target, colours)
    target.set(xlim=(0, 1000 * steps["all names"].duration_s))
    target.set_xlabel("ms of DeepSeek's training profile, laid out anew from its published totals")
    return figure


def busy_intervals_figure() -> Figure:
    """The kernels of three streams, and the union below them."""
    figure = canvas(2.1)
    target = axes(figure, left=0.95, bottom=0.5, right=0.3, top=0.15)
    rows = [row for row in ROWS if row != "CPU"]
    for place, row in enumerate(rows):
        for name, start, end in ROWS[row]:
            target.barh(-place, end - start, left=start, height=0.7, color=OF_CLASS[name], edgecolor="white")
    busy = [(start / 1000, end / 1000) for start, end in busy_intervals(one_step())]
    for start, end in busy:
        target.barh(-len(rows), end - start, left=start, height=0.7, color=INK)
        target.text(
            (start + end) / 2,
            -len(rows),
            f"{end - start:g}",
            ha="center",
            va="center",
            color="white",
        )
    target.set_yticks([-place for place in range(len(rows) + 1)], [*rows, "busy"])
    target.tick_params(axis="y", length=0)
    target.spines["left"].set_visible(False)
    target.set(xlim=(0, STEP_US), xlabel="µs")
    return figure


def step_breakdown_figure() -> Figure:
    """A step's timeline, and whose time each instant of it is."""
    step = step_breakdown(one_step())[0]
    figure = canvas(3.4)
    target = axes(figure, left=0.95, bottom=1.35, right=0.3, top=0.15)
    for place, (_, runs) in enumerate(ROWS.items()):
        for name, start, end in runs:
            target.barh(-place, end - start, left=start, height=0.7, color=OF_CLASS[name], edgecolor="white")
            target.text(
                (start + end) / 2,
                -place,
                name.replace("-", "-\n").replace("_bound", "-\nbound"),
                ha="center",
                va="center",
                fontsize=7.5,
                color="white" if name in ("matmul", "copy", "loader") else INK,
            )
    target.set_yticks([-place for place in range(len(ROWS))], list(ROWS))
    target.tick_params(axis="y", length=0)
    target.spines["left"].set_visible(False)
    target.set(xlim=(0, STEP_US), xticks=range(0, STEP_US + 1, 200))
    below = axes(figure, left=0.95, bottom=0.5, right=0.3, top=2.65)
    seconds = [1e6 * getattr(step, part) for part in PARTS]
    bars(below, {"the sum": seconds}, list(COLOURS.values()))
    left = 0.0
    for (name, _), width in zip(COLOURS.items(), seconds, strict=True):
        dark = name in ("matmul", "copy", "idle, data")
        below.text(
            left + width / 2, 0, f"{width:.0f}", ha="center", va="center", color="white" if dark else INK
        )
        left += width
    below.set(xlim=(0, STEP_US), xlabel="µs: matmul, attention, memory-bound, copy, exposed, data, host")
    below.set_xticks(range(0, STEP_US + 1, 200))
    return figure


def remedy_figure() -> Figure:
    """Steps of five made traces, and the remedy of each."""
    runs: Mapping[str, Kind] = {
        "mostly matmul": "matmul",
        "many small ops": "memory_bound",
        "bare all-reduce": "exposed_communication",
        "slow loader": "idle_data",
        "slow host": "idle_host",
    }
    steps = {
        name: step_breakdown(make_trace(2, mostly=mostly, steps=1)[0]["traceEvents"])[0]
        for name, mostly in runs.items()
    }
    figure = canvas(2.9)
    target = axes(figure, left=1.2, bottom=0.5, right=1.6, top=0.6)
    ends = []
    for step in steps.values():
        what = remedy(step)
        ends.append(f"{what.name}, {100 * what.share:.0f} %")
    bars(target, {name: _percent(step) for name, step in steps.items()}, list(COLOURS.values()), ends)
    legend(target, COLOURS, columns=4)
    target.set(xlim=(0, 100), xlabel="% of the step, traces made by specs/traces.py")
    return figure


def recorded(name: str, dims: list[list[int]], dur_us: float = 1.0) -> Event:
    """An operation in bf16 as record_shapes writes it."""
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "ts": 0.0,
        "dur": dur_us,
        "args": {"Input Dims": dims, "Input type": ["c10::BFloat16"] * len(dims)},
    }


def kernel_efficiency_figure() -> Figure:
    """The two bills of five operations on an H100: the longer is the roof."""
    operations = {
        "mm 4096 × 4096 × 4096": recorded("aten::mm", [[4096, 4096], [4096, 4096]]),
        "mm 256 × 4096 × 4096": recorded("aten::mm", [[256, 4096], [4096, 4096]]),
        "mm 1 × 4096 × 4096": recorded("aten::mm", [[1, 4096], [4096, 4096]]),
        "gelu 4096 × 16384": recorded("aten::gelu", [[4096, 16384]]),
        "add 4096 × 4096, a row": recorded("aten::add", [[4096, 4096], [4096]]),
    }
    figure = canvas(2.7)
    target = axes(figure, left=1.75, bottom=0.5, right=0.9, top=0.4)
    for place, event in enumerate(operations.values()):
        found = kernel_efficiency(event, CARD)
        bills = (1e6 * found.flops / CARD.peak_flops("bf16"), 1e6 * found.bytes_moved / CARD.hbm_bytes_per_s)
        for offset, bill, colour in zip((0.19, -0.19), bills, (BLUE, CORAL), strict=True):
            target.barh(-place + offset, bill, height=0.36, color=colour)
        roof = 1e6 * found.roofline_s
        target.annotate(
            f"{roof:.1f} µs" if roof < 100 else f"{roof:.0f} µs",
            (roof, -place + (0.19 if bills[0] >= bills[1] else -0.19)),
            (4, 0),
            textcoords="offset points",
            va="center",
        )
    target.set_yticks([-place for place in range(len(operations))], list(operations))
    target.tick_params(axis="y", length=0)
    target.set(xscale="log", xlim=(0.01, 300), xlabel="µs on an H100, bf16")
    target.set_xticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    target.set_xticks([], minor=True)
    legend(target, {"FLOPs over the peak": BLUE, "bytes over the bandwidth": CORAL})
    return figure


FIGURES = {
    "kernel_classes": kernel_classes_figure,
    "busy_intervals": busy_intervals_figure,
    "step_breakdown": step_breakdown_figure,
    "remedy": remedy_figure,
    "kernel_efficiency": kernel_efficiency_figure,
}

if __name__ == "__main__":
    draw(FIGURES, Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
