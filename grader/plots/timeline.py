"""Draws what a traced device did: a lane a stream coloured by class, idle time shaded by its reason, steps marked.

Needs matplotlib (the `plots` extra). The same matplotlib gives the same bytes. Times in seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from grader.plots.roofline import FAINT, INK, STYLE, WIDTH_IN
from grader.plots.roofline import save as save_both

Span = tuple[float, float]
Floats = NDArray[np.float64]
COLOURS = {
    "matmul": "#4477aa",
    "attention": "#aa3377",
    "memory_bound": "#e0a526",
    "copy": "#7a6652",
    "communication": "#228833",
}
"""In the order in which the classes claim an instant."""
NAMES = {"memory_bound": "memory-bound"}
DATA, DATA_HATCH, HOST, HOST_HATCH = "#f8d7d7", "#c22f3d", "#e9e9e9", "#8a8a8a"
MOST_LANES = 24
MOST_SPANS = 4000
"""Of one picture, drawn one by one: more are not told apart at page width, and an SVG of more is megabytes."""
BINS = 400
"""Of a picture in shares: two pixels each."""
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 1.15, 0.15, 0.66, 0.45
_LANE_IN, _HEADING_IN = 0.2, 0.3


@dataclass(frozen=True)
class Lane:
    """A stream, or a thread of a CPU."""

    name: str
    spans: Mapping[str, Sequence[Span]]
    """By class."""


@dataclass(frozen=True)
class Track:
    """One rank's steps, from the begin of the first of them."""

    name: str
    steps: Sequence[tuple[int, Span]]
    busy: Sequence[Span]
    waits: Sequence[Span]
    """When the CPU was in the loader; idle time there waits for data."""
    lanes: Sequence[Lane] = field(default=())
    bins: int = 0
    """Above 0, kernels are too many to be told apart: of so many equal parts of time each shows shares, as heights."""

    @property
    def end(self) -> float:
        """Of the last step."""
        return max(end for _, (_, end) in self.steps)


def draw(tracks: Sequence[Track], title: str, note: str = "") -> Figure:
    """The picture: for every rank a strip with where its time goes, and its lanes below.

    Raises:
        ValueError: there are more lanes than a picture can show.
    """
    rows = sum(len(track.lanes) + 1 for track in tracks)
    if rows > MOST_LANES + len(tracks):
        raise ValueError(f"{rows - len(tracks)} streams: a picture shows {MOST_LANES} at most")
    heights = [_HEADING_IN + _LANE_IN * (1.4 + len(track.lanes)) for track in tracks]
    height = TOP_IN + sum(heights) + BOTTOM_IN
    longest = max(track.end for track in tracks)
    with matplotlib.rc_context(STYLE | {"hatch.linewidth": 0.5}):
        figure = Figure(figsize=(WIDTH_IN, height), dpi=72, facecolor="white")  # so a pixel is a point
        FigureCanvasAgg(figure)
        top = height - TOP_IN
        for track, own in zip(tracks, heights, strict=True):
            body = own - _HEADING_IN
            top -= own
            width = (WIDTH_IN - LEFT_IN - RIGHT_IN) / WIDTH_IN
            axes = figure.add_axes((LEFT_IN / WIDTH_IN, top / height, width, body / height))
            _track(axes, track, longest)
        axes.set_xlabel("time, ms")
        axes.tick_params(labelbottom=True)
        figure.text(0.1 / WIDTH_IN, 1 - 0.18 / height, title, weight="bold", size=10, va="center")
        figure.text(0.1 / WIDTH_IN, 1 - 0.38 / height, note, color=FAINT, size=8, va="center")
        _legend(figure, tracks, height)
    return figure


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png and `stem`.svg.

    Raises:
        OSError: one of them cannot be written.
    """
    with matplotlib.rc_context({"hatch.linewidth": 0.5}):
        return save_both(figure, stem)


def merged(spans: Sequence[Span]) -> list[Span]:
    """Spans by begin, those that touch or overlap as one; empty ones go."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if end <= begin:
            continue
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def covered(spans: Sequence[Span], edges: Floats) -> Floats:
    """How much of each bin between two edges the spans cover, in seconds."""
    apart = merged(spans)
    if not apart:
        return np.zeros(len(edges) - 1)
    begins, ends = np.array(apart).T
    # The time covered until t is a broken line through the begins and ends.
    until = np.concatenate([[0.0], np.cumsum(ends - begins)])
    at = np.stack([begins, ends], axis=1).ravel()
    return np.diff(np.interp(edges, at, np.stack([until[:-1], until[1:]], axis=1).ravel()))


def spans_in(track: Track) -> int:
    """How many rectangles the lanes of a track take."""
    return sum(len(spans) for lane in track.lanes for spans in lane.spans.values()) + len(track.busy)


def _track(axes: Axes, track: Track, longest: float) -> None:
    """A strip of height 1.4 on top, then lanes of height 1; rows go down from 0."""
    lanes = len(track.lanes)
    axes.set(xlim=(0, longest * 1e3), ylim=(lanes + 1.4, 0))
    together = {kind: [span for lane in track.lanes for span in lane.spans.get(kind, ())] for kind in COLOURS}
    if track.bins:
        _shares(axes, track, together, 0.1, 1.1, idle=True)
        for row, lane in enumerate(track.lanes):
            _shares(axes, track, lane.spans, 1.4 + row + 0.12, 0.76, idle=False)
    else:
        _idle(axes, track, lanes)
        for kind in reversed(COLOURS):  # what claims an instant first is painted last
            _bars(axes, merged(together[kind]), 0.1, 1.1, COLOURS[kind])
            for row, lane in enumerate(track.lanes):
                _bars(axes, lane.spans.get(kind, ()), 1.4 + row + 0.12, 0.76, COLOURS[kind])
    axes.set_yticks(
        [0.65, *(1.9 + row for row in range(lanes))], ["all together", *(x.name for x in track.lanes)]
    )
    axes.tick_params(axis="y", length=0, labelsize=7.5)
    axes.tick_params(axis="x", labelbottom=False, labelsize=8)
    axes.spines["left"].set_visible(False)
    _steps(axes, track, longest)


def _shares(
    axes: Axes, track: Track, spans: Mapping[str, Sequence[Span]], top: float, height: float, idle: bool
) -> None:
    """Shares of each bin from the bottom up: the classes in their order, then what the idle device waits for."""
    edges = np.linspace(0, track.end, track.bins + 1)
    layers: list[tuple[Sequence[Span], dict[str, Any]]] = [
        (spans.get(kind, ()), {"facecolor": colour}) for kind, colour in COLOURS.items()
    ]
    if idle:
        steps = [span for _, span in track.steps]
        waits = [span for step in steps for wait in track.waits if (span := _common(step, wait))]
        layers.append((waits, {"facecolor": DATA, "edgecolor": DATA_HATCH, "hatch": "////"}))
        layers.append((steps, {"facecolor": HOST, "edgecolor": HOST_HATCH, "hatch": "---"}))
    so_far: list[Span] = []
    below = np.zeros(track.bins)
    for some, style in layers:
        so_far += some
        level = covered(so_far, edges) / np.diff(edges)
        if (level > below).any():
            low, high = (top + height * (1 - np.append(each, each[-1])) for each in (below, level))
            axes.fill_between(edges * 1e3, low, high, step="post", linewidth=0, **style)
        below = level


def _idle(axes: Axes, track: Track, lanes: int) -> None:
    """The ground: waiting for the host, over it waiting for data, over both the time in which the device works."""
    whole = lanes + 1.4
    steps = [span for _, span in track.steps]
    inside = [span for step in steps for wait in track.waits if (span := _common(step, wait))]
    for spans, face, hatch, pattern in (
        (steps, HOST, HOST_HATCH, "---"),
        (inside, DATA, DATA_HATCH, "////"),
    ):
        axes.broken_barh(_milliseconds(spans), (0, whole), facecolor=face, linewidth=0)
        axes.broken_barh(
            _milliseconds(spans), (0.1, 1.1), facecolor=face, edgecolor=hatch, hatch=pattern, linewidth=0
        )
    _bars(axes, track.busy, 0, whole, "white")


def _common(one: Span, other: Span) -> Span | None:
    begin, end = max(one[0], other[0]), min(one[1], other[1])
    return (begin, end) if begin < end else None


def _bars(axes: Axes, spans: Sequence[Span], low: float, height: float, colour: str) -> None:
    if spans:
        axes.broken_barh(_milliseconds(spans), (low, height), facecolor=colour, linewidth=0)


def _milliseconds(spans: Sequence[Span]) -> list[tuple[float, float]]:
    """(begin, length) in milliseconds."""
    return [(begin * 1e3, (end - begin) * 1e3) for begin, end in spans]


def _steps(axes: Axes, track: Track, longest: float) -> None:
    for number, (begin, end) in track.steps:
        for edge in (begin, end):
            axes.axvline(edge * 1e3, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=5)
        room = (end - begin) / longest * (WIDTH_IN - LEFT_IN - RIGHT_IN) * 72
        if room > 12 + 5 * len(str(number)):
            text = f"step {number}" if room > 32 + 5 * len(str(number)) else str(number)
            axes.annotate(
                text,
                ((begin + end) / 2 * 1e3, 0),
                (0, 4),
                textcoords="offset points",
                ha="center",
                size=8,
                annotation_clip=False,
            )
    if track.name:
        axes.annotate(
            track.name, (0, 0), (-LEFT_IN * 72 + 7, 4), textcoords="offset points", size=8.5, weight="bold"
        )


def _legend(figure: Figure, tracks: Sequence[Track], height: float) -> None:
    seen = {kind for track in tracks for lane in track.lanes for kind, spans in lane.spans.items() if spans}
    handles = [
        Patch(facecolor=colour, label=NAMES.get(kind, kind))
        for kind, colour in COLOURS.items()
        if kind in seen
    ]
    handles.append(Patch(facecolor=HOST, edgecolor=HOST_HATCH, hatch="---", linewidth=0, label="idle: host"))
    if any(track.waits for track in tracks):
        handles.append(
            Patch(facecolor=DATA, edgecolor=DATA_HATCH, hatch="////", linewidth=0, label="idle: data")
        )
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.1 / WIDTH_IN, 1 - 0.5 / height),
        ncols=len(handles),
        borderaxespad=0,
        handlelength=1.1,
        handleheight=1,
        handletextpad=0.4,
        columnspacing=1.2,
        fontsize=8,
    )
