"""Draws a roofline: the roofs of a card, log-log, its ridge, and the ops of a step where they stand.

Needs matplotlib (the `plots` extra). The same matplotlib gives the same bytes: no date, fixed ids, axes
placed by inches. Text stays text, so that the SVG is small and can be searched.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from grader.plots.labels import Box, Label, Obstacle, place
from specs.costs import OpKind
from specs.dtypes import DType
from specs.gpu import Gpu

WIDTH_IN, HEIGHT_IN = 7.3, 4.6  # 700 pixels wide in a browser
MARGINS_IN = {"left": 0.75, "right": 1.3, "bottom": 0.52, "top": 0.62}
PNG_DPI = 160
INK, FAINT, PALE = "#222222", "#8a8a8a", "#b9b9b9"
COLOURS: dict[OpKind, str] = {"matmul": "#4477aa", "attention": "#aa3377", "memory": "#c98a00"}
NAMES: dict[OpKind, str] = {"matmul": "matmul", "attention": "attention", "memory": "everything else"}
BACKWARD = " bwd"
"""Ends the name of a backward op where forward ops are in the same picture."""
STYLE: Any = {  # the type that matplotlib has for this lists its 300 keys
    "svg.hashsalt": "rooflab",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial"],
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,
    "text.hinting": "no_hinting",  # or text is measured wider here than it is drawn
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
LABEL_SIZE = 7.5
WIDER_FONT = 1.06  # a browser without DejaVu Sans takes one that is a little wider
SAME_PLACE = 9.0  # points: ops of a kind that are so near share a marker and a label
SAME_PEAK = 1.02  # fp8 at 1978.9 and int8 at 1979 are one roof


@dataclass(frozen=True)
class PlacedOp:
    """An op of a step as the picture needs it."""

    name: str
    kind: OpKind
    intensity: float
    """FLOPs per byte."""
    flops_per_s: float
    """FLOPs over time."""
    share: float
    """Of the step's time, 0 to 1."""


def draw(
    ops: Sequence[PlacedOp], card: Gpu, dtype: DType, ridge: float, title: str, note: str = ""
) -> Figure:
    """The picture; ops without FLOPs or bytes have no place on it and are left out.

    Args:
        ridge: FLOPs per byte at which `dtype` crosses from memory-bound to compute-bound, marked as given.
        title: bold, above; `note` stands below it.
    """
    drawn = [op for op in ops if 0 < op.intensity < math.inf and 0 < op.flops_per_s < math.inf]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=72, facecolor="white")  # so a pixel is a point
        FigureCanvasAgg(figure)
        axes = _axes(figure, drawn, card, dtype, ridge)
        places = _together(axes, drawn)
        obstacles = _roofs(figure, axes, card, dtype) + _ridge(axes, card, dtype, ridge)
        obstacles += _bandwidth(axes, card, dtype, places)
        _ops(axes, places, obstacles)
        figure.text(0.1 / WIDTH_IN, 1 - 0.2 / HEIGHT_IN, title, weight="bold", size=10, va="center")
        figure.text(0.1 / WIDTH_IN, 1 - 0.42 / HEIGHT_IN, note, color=FAINT, size=8, va="center")
    return figure


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png and `stem`.svg.

    Raises:
        OSError: one of them cannot be written.
    """
    png, svg = stem.with_name(stem.name + ".png"), stem.with_name(stem.name + ".svg")
    with matplotlib.rc_context(STYLE):
        figure.savefig(png, dpi=PNG_DPI, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None})
    return [png, svg]


def _axes(figure: Figure, ops: Sequence[PlacedOp], card: Gpu, dtype: DType, ridge: float) -> Axes:
    left, bottom = MARGINS_IN["left"] / WIDTH_IN, MARGINS_IN["bottom"] / HEIGHT_IN
    width = 1 - left - MARGINS_IN["right"] / WIDTH_IN
    height = 1 - bottom - MARGINS_IN["top"] / HEIGHT_IN
    axes = figure.add_axes((left, bottom, width, height))
    intensities = [op.intensity for op in ops]
    low = min([0.1, *intensities]) / 2
    high = max([ridge * 12, *(each * 5 for each in intensities)])
    floor = min([low * card.hbm_bytes_per_s, *(op.flops_per_s / 2 for op in ops)])
    ceiling = max([*(rate * 1e12 for rate in card.dense_tflops.values()), *(op.flops_per_s for op in ops)])
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(floor, ceiling * 3))
    axes.set_xlabel("arithmetic intensity, FLOP/byte")
    axes.set_ylabel("FLOP/s")
    ticks = range(math.ceil(math.log10(floor)), math.floor(math.log10(ceiling * 3)) + 1)
    axes.set_yticks([10.0**each for each in ticks], [_rate(10.0**each) for each in ticks])
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    axes.set_xticks([10.0**each for each in powers], [f"{10.0**each:,g}" for each in powers])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    return axes


def _rate(flops_per_s: float) -> str:
    """`989 T` as an axis writes it."""
    for size, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if flops_per_s >= size * 0.999:
            return f"{flops_per_s / size:.3g} {letter}"
    return f"{flops_per_s:.3g}"


def _roofs(figure: Figure, axes: Axes, card: Gpu, dtype: DType) -> list[Obstacle]:
    """One roof a peak, that of `dtype` strong; names of the formats in the right margin."""
    low, high = axes.get_xlim()
    floor, _ = axes.get_ylim()
    bandwidth = card.hbm_bytes_per_s
    peaks: list[tuple[float, list[DType]]] = []
    for name, rate in sorted(card.dense_tflops.items(), key=lambda each: each[1]):
        if peaks and rate <= peaks[-1][0] * SAME_PEAK:
            peaks[-1][1].append(name)
        else:
            peaks.append((rate, [name]))
    obstacles: list[Obstacle] = []
    lowest = -math.inf
    corner = max(low, floor / bandwidth)
    for rate, names in peaks:
        own = dtype in names
        peak = card.peak_flops(dtype) if own else rate * 1e12
        colour, width = (INK, 1.8) if own else (PALE, 0.9)
        start = peak / bandwidth
        axes.plot([start, high], [peak, peak], color=colour, linewidth=width, zorder=2)
        obstacles += _along(axes, (start, peak), (high, peak), price=0.25 if own else 0.1)
        end = axes.transData.transform((high, peak))
        # Roofs that are nearer than a line of text push the next name up.
        y = max(float(end[1]), lowest + LABEL_SIZE + 2)
        lowest = y
        text = f"{', '.join(names)}: {rate:.4g} T"
        weight = "bold" if own else "normal"
        figure.text(
            (float(end[0]) + 4) / (WIDTH_IN * 72),
            y / (HEIGHT_IN * 72),
            text,
            size=LABEL_SIZE,
            color=INK if own else FAINT,
            weight=weight,
            va="center",
        )
    own_corner = card.peak_flops(dtype) / bandwidth
    top = max(rate for rate, _ in peaks) * 1e12 / bandwidth
    axes.plot([corner, top], [corner * bandwidth, top * bandwidth], color=PALE, linewidth=0.9, zorder=1)
    axes.plot(
        [corner, own_corner], [corner * bandwidth, own_corner * bandwidth], color=INK, linewidth=1.8, zorder=2
    )
    obstacles += _along(axes, (corner, corner * bandwidth), (top, top * bandwidth), price=0.25)
    return obstacles


def _bandwidth(axes: Axes, card: Gpu, dtype: DType, places: Sequence["_Place"]) -> list[Obstacle]:
    """The bandwidth, written along the slope where no marker is near."""
    bandwidth = card.hbm_bytes_per_s
    text = f"{bandwidth / 1e12:.3g} TB/s" if bandwidth >= 1e12 else f"{bandwidth / 1e9:.4g} GB/s"
    length = len(text) * LABEL_SIZE * 0.66
    low, floor = axes.get_xlim()[0], axes.get_ylim()[0]
    corner, ridge = max(low, floor / bandwidth), card.peak_flops(dtype) / bandwidth
    (x0, y0), (x1, y1) = axes.transData.transform([(corner, corner * bandwidth), (ridge, ridge * bandwidth)])
    slope, room = math.atan2(y1 - y0, x1 - x0), math.hypot(x1 - x0, y1 - y0) - length
    cos, sin = math.cos(slope), math.sin(slope)

    def middle(start: float) -> tuple[float, float]:
        return x0 + (start + length / 2) * cos, y0 + (start + length / 2) * sin

    def free(start: float) -> float:
        return min([length, *(math.dist(middle(start), (each.x, each.y)) for each in places)])

    start = max((room * step / 20 for step in range(1, 20)), key=free)
    up = 4.0
    x, y = x0 + start * cos - up * sin, y0 + start * sin + up * cos
    at = axes.transData.inverted().transform((x, y))
    axes.text(
        float(at[0]),
        float(at[1]),
        text,
        rotation=math.degrees(slope),
        rotation_mode="anchor",
        size=LABEL_SIZE,
        weight="bold",
    )
    boxes = []
    for step in range(8):
        along, across = length * step / 7, LABEL_SIZE / 2
        px, py = x + along * cos - across * sin, y + along * sin + across * cos
        boxes.append(Obstacle(Box(px - 5, py - 5, px + 5, py + 5)))
    return boxes


def _ridge(axes: Axes, card: Gpu, dtype: DType, ridge: float) -> list[Obstacle]:
    """The ridge as a dotted line with its number, and which side is which."""
    low, high = axes.get_xlim()
    if not low < ridge < high:
        return []
    floor, _ = axes.get_ylim()
    peak = card.peak_flops(dtype)
    axes.plot([ridge, ridge], [floor, peak], color=INK, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    number = f"ridge {ridge:.3g}"
    names = (
        ("memory-bound", -4, 5, "right", FAINT),
        ("compute-bound", 4, 5, "left", FAINT),
        (number, 4, 16, "left", INK),
    )
    obstacles = _along(axes, (ridge, floor), (ridge, peak), price=0.25)
    for text, x, y, side, colour in names:
        written = axes.annotate(
            text, (ridge, floor), (x, y), textcoords="offset points", ha=side, size=LABEL_SIZE, color=colour
        )
        extent = written.get_window_extent()
        obstacles.append(Obstacle(Box(extent.x0 - 1, extent.y0 - 1, extent.x1 + 1, extent.y1 + 1)))
    return obstacles


def _along(axes: Axes, start: tuple[float, float], end: tuple[float, float], price: float) -> list[Obstacle]:
    """Small boxes along a straight line of the picture."""
    (x0, y0), (x1, y1) = axes.transData.transform([start, end])
    steps = max(1, int(math.hypot(x1 - x0, y1 - y0) / 4))
    places = [(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps) for k in range(steps + 1)]
    return [Obstacle(Box(x - 1.5, y - 1.5, x + 1.5, y + 1.5), price) for x, y in places]


@dataclass(frozen=True)
class _Place:
    """Ops of one kind that stand so near that they share a marker and a label; x and y in points."""

    members: tuple[PlacedOp, ...]
    x: float
    y: float

    @property
    def heaviest(self) -> PlacedOp:
        """The op whose exact place the marker has."""
        return self.members[0]

    @property
    def share(self) -> float:
        """Of the step's time, together."""
        return sum(op.share for op in self.members)

    @property
    def radius(self) -> float:
        """Of the marker, in points."""
        return 2.2 + 7 * math.sqrt(max(0.0, self.share))

    @property
    def words(self) -> str:
        """`mlp up, mlp gate · 38 %`, two names a line; an op's backward is not named beside the op."""
        names = [op.name for op in self.members]
        names = [
            name.replace("_", " ")
            for name in names
            if name.removesuffix(BACKWARD) not in names or BACKWARD not in name
        ]
        lines = [", ".join(names[k : k + 2]) for k in range(0, len(names), 2)]
        share = f" · {self.share:.0%}".replace("%", " %") if self.share >= 0.005 else ""
        return ",\n".join(lines) + share


def _together(axes: Axes, ops: Sequence[PlacedOp]) -> list[_Place]:
    """The places of a picture, the heaviest first, so that small markers are drawn above large ones."""
    places: list[_Place] = []
    for op in sorted(ops, key=lambda each: -each.share):
        x, y = (float(each) for each in axes.transData.transform((op.intensity, op.flops_per_s)))
        for index, each in enumerate(places):
            if op.kind == each.heaviest.kind and math.hypot(each.x - x, each.y - y) < SAME_PLACE:
                places[index] = _Place((*each.members, op), each.x, each.y)
                break
        else:
            places.append(_Place((op,), x, y))
    return sorted(places, key=lambda each: -each.share)


def _ops(axes: Axes, places: Sequence[_Place], obstacles: Sequence[Obstacle]) -> None:
    """A marker a place, as large as its share of the time, and its label, with a leader where that is far."""
    for each in places:
        axes.plot(
            [each.heaviest.intensity],
            [each.heaviest.flops_per_s],
            marker="o",
            markersize=2 * each.radius,
            color=COLOURS[each.heaviest.kind],
            markeredgecolor="white",
            markeredgewidth=0.7,
            linestyle="none",
            zorder=4,
            clip_on=False,
        )
    taken = [*obstacles, _legend(axes, places)]
    texts = [
        axes.text(0, 0, each.words, size=LABEL_SIZE, transform=None, ha="left", va="bottom", linespacing=1.05)
        for each in places
    ]
    sizes = [text.get_window_extent() for text in texts]
    labels = [
        Label(each.x, each.y, each.radius, size.width * WIDER_FONT + 2, size.height + 2)
        for each, size in zip(places, sizes, strict=True)
    ]
    view = axes.get_window_extent()
    frame = Box(view.x0 + 2, view.y0 + 2, view.x1, view.y1 + 6)
    to_data = axes.transData.inverted()
    for text, size, label, box in zip(texts, sizes, labels, place(labels, taken, frame), strict=True):
        left = box.left + (label.width - size.width) / 2
        x, y = to_data.transform((left, box.bottom + 1))
        text.set_transform(axes.transData)
        text.set_position((float(x), float(y)))
        tight = Box(left - 1, box.bottom + 1, left + size.width + 1, box.top - 1)
        end = tight.nearest(label.x, label.y)
        if math.hypot(end[0] - label.x, end[1] - label.y) > label.radius + 6:
            ends = to_data.transform([(label.x, label.y), end])
            axes.plot(ends[:, 0], ends[:, 1], color=FAINT, linewidth=0.6, zorder=3)


def _legend(axes: Axes, places: Sequence[_Place]) -> Obstacle:
    """Which colour is which kind, in the corner where a roof cannot be."""
    kinds = [kind for kind in COLOURS if any(each.heaviest.kind == kind for each in places)]
    handles = [
        Line2D([], [], marker="o", linestyle="none", color=COLOURS[kind], label=NAMES[kind]) for kind in kinds
    ]
    legend = axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        handletextpad=0.1,
        fontsize=8,
    )
    extent = legend.get_window_extent()
    return Obstacle(Box(extent.x0, extent.y0, extent.x1, extent.y1))
