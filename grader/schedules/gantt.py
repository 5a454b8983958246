"""Draws schedules as Gantt charts: a row a stage, forwards and backwards with their microbatch, bubbles shaded.

Needs matplotlib (the `plots` extra). The same matplotlib gives the same bytes: no date, fixed ids, axes
placed by inches. Text stays text, so that the SVG is small and can be searched.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from grader.plots.roofline import FAINT, INK, STYLE, WIDTH_IN
from grader.plots.roofline import save as save_both
from grader.schedules.simulator import Schedule

MOST_STAGES = 64
MOST_PASSES = 4000
"""Of one picture: an SVG of more is megabytes, and no pass of it could be told from its neighbour."""
FORWARD, BACKWARD, BUBBLE = "#9cc3e6", "#2f6f9f", "#f4c9c9"
_HATCH = "#c22f3d"
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN, BETWEEN_IN = 0.85, 0.75, 0.4, 0.5, 0.62
_SMALLEST_TEXT = 4.5  # points


def draw(charts: Sequence[tuple[str, Schedule]]) -> Figure:
    """The schedules below each other, each under its title, on one time axis.

    Raises:
        ValueError: there are more stages or passes than a picture can show.
    """
    for _, schedule in charts:
        if schedule.stages > MOST_STAGES or len(schedule.passes) > MOST_PASSES:
            raise ValueError(
                f"{schedule.stages} stages and {len(schedule.passes):,} passes: a picture shows {MOST_STAGES} "
                f"and {MOST_PASSES:,} at most"
            )
    rows = [_row_in(schedule) * schedule.stages for _, schedule in charts]
    height = TOP_IN + sum(rows) + BETWEEN_IN * len(rows) + BOTTOM_IN
    longest = max(schedule.makespan for _, schedule in charts)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height), dpi=72, facecolor="white")  # so a pixel is a point
        FigureCanvasAgg(figure)
        top = height - TOP_IN
        for (title, schedule), rows_in in zip(charts, rows, strict=True):
            top -= BETWEEN_IN - 0.12
            axes = _axes(figure, height, top - rows_in, rows_in)
            _chart(axes, schedule, longest, rows_in)
            figure.text(0.1 / WIDTH_IN, (top + 0.32) / height, title, weight="bold", size=10, va="center")
            figure.text(
                0.1 / WIDTH_IN, (top + 0.12) / height, words(schedule), size=8, va="center", color=INK
            )
            top -= rows_in + 0.12
        axes.set_xlabel("time")
        axes.tick_params(labelbottom=True)
        _legend(figure, height)
    return figure


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png and `stem`.svg.

    Raises:
        OSError: one of them cannot be written.
    """
    return save_both(figure, stem)


def words(schedule: Schedule) -> str:
    """`makespan 33, bubble 9: 27.3 % of the time, 37.5 % over the work; at most 4 microbatches in flight`"""
    shares = f"{schedule.of_total:.1%} of the time, {schedule.over_ideal:.1%} over the work".replace(
        "%", " %"
    )
    most = max(schedule.peak_activations)
    flight = f"at most {most} microbatch{'es' * (most != 1)} in flight on a stage"
    return f"makespan {schedule.makespan:g}, bubble {schedule.bubble:g}: {shares}; {flight}"


def waits(schedule: Schedule, stage: int) -> Iterator[tuple[float, float]]:
    """When a stage waits, as (begin, end), from 0 to the end of the schedule."""
    clock = 0.0
    for each in schedule.on_stage(stage):
        if each.start > clock:
            yield clock, each.start
        clock = max(clock, each.end)
    if schedule.makespan > clock:
        yield clock, schedule.makespan


def _row_in(schedule: Schedule) -> float:
    """Height of a stage's row: less where there are many."""
    return 0.3 if schedule.stages <= 8 else max(0.1, 2.4 / schedule.stages)


def _axes(figure: Figure, height: float, bottom: float, rows_in: float) -> Axes:
    width = (WIDTH_IN - LEFT_IN - RIGHT_IN) / WIDTH_IN
    axes = figure.add_axes((LEFT_IN / WIDTH_IN, bottom / height, width, rows_in / height))
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return axes


def _chart(axes: Axes, schedule: Schedule, longest: float, rows_in: float) -> None:
    points = (WIDTH_IN - LEFT_IN - RIGHT_IN) * 72 / longest
    row_points = rows_in / schedule.stages * 72
    digits = len(str(schedule.microbatches - 1))
    for stage in range(schedule.stages):
        idle = [(begin, end - begin) for begin, end in waits(schedule, stage)]
        if idle:
            axes.broken_barh(
                idle,
                (stage - 0.43, 0.86),
                facecolor=BUBBLE,
                edgecolor=_HATCH,
                hatch="////",
                linewidth=0,
            )
        for kind, colour in (("F", FORWARD), ("B", BACKWARD)):
            spans = [
                (each.start, each.end - each.start) for each in schedule.on_stage(stage) if each.kind == kind
            ]
            axes.broken_barh(
                spans, (stage - 0.43, 0.86), facecolor=colour, edgecolor="white", linewidth=0.6, zorder=3
            )
        for each in schedule.on_stage(stage):
            size = min(8.0, row_points * 0.6, (each.end - each.start) * points / digits / 0.72)
            if size >= _SMALLEST_TEXT:
                axes.text(
                    (each.start + each.end) / 2,
                    stage,
                    str(each.microbatch),
                    ha="center",
                    va="center_baseline",
                    size=size,
                    color=INK if each.kind == "F" else "white",
                    zorder=4,
                )
    _margins(axes, schedule, longest, row_points)


def _margins(axes: Axes, schedule: Schedule, longest: float, row_points: float) -> None:
    """Names of stages on the left, what each holds on the right, of every row or of as many as have room."""
    step = max(1, round(8.5 / row_points))
    named = range(0, schedule.stages, step)
    axes.set_yticks(list(named), [f"stage {stage}" for stage in named], size=8)
    for stage in named:
        axes.annotate(
            f"holds {schedule.peak_activations[stage]}",
            (longest, stage),
            (6, 0),
            textcoords="offset points",
            va="center_baseline",
            size=8,
            color=INK,
        )
    axes.set(xlim=(0, longest), ylim=(schedule.stages - 0.5, -0.5))
    axes.tick_params(labelbottom=False)


def _legend(figure: Figure, height: float) -> None:
    handles = [
        Patch(facecolor=FORWARD, label="forward"),
        Patch(facecolor=BACKWARD, label="backward"),
        Patch(facecolor=BUBBLE, edgecolor=_HATCH, hatch="////", linewidth=0, label="bubble"),
    ]
    legend = figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.1 / WIDTH_IN, 1 - 0.08 / height),
        ncols=3,
        borderaxespad=0,
        handlelength=1.2,
        handleheight=1,
        columnspacing=1.6,
        fontsize=8,
    )
    legend.get_frame().set_visible(False)
    figure.text(
        1 - 0.1 / WIDTH_IN,
        1 - 0.17 / height,
        "numbers are microbatches; holds: the most of them in flight on a stage",
        ha="right",
        va="center",
        size=8,
        color=FAINT,
    )
