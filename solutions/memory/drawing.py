"""How the handout's figures look: palette, page, axes, stacked bars.

Axes are placed by inches and not by the size of text, and text stays text: the files are small, and no font can
move anything. Positions leave room for a font a little wider than DejaVu Sans.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

WIDTH_IN = 7.3  # 700 pixels in a browser
INK, FAINT, RED = "#222222", "#8a8a8a", "#c22f3d"
BLUE, SKY, YELLOW, CORAL, PURPLE, GREEN = "#4477aa", "#7fc4e8", "#d9c04a", "#ee6677", "#aa3377", "#2f8f4e"
GREY = "#c4c4c4"
NAMES = {
    "master": "master copy",
    "attention_scores": "attention scores",
    "layer_inputs": "layer inputs",
    "mlp": "MLP",
}
STYLE = {
    "svg.hashsalt": "rooflab",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def canvas(height_in: float) -> Figure:
    """An empty white figure as wide as the page."""
    return Figure(figsize=(WIDTH_IN, height_in), facecolor="white")


def axes(figure: Figure, left: float, bottom: float, right: float = 0.25, top: float = 0.4) -> Axes:
    """Axes with these margins, in inches, so that no text size can move them."""
    width, height = figure.get_size_inches()
    box = (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    return figure.add_axes(box)


def legend(target: Axes, colours: Mapping[str, str], columns: int | None = None) -> None:
    """A line of colours with their names above the axes."""
    handles = [Patch(color=colour, label=NAMES.get(name, name)) for name, colour in colours.items()]
    target.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns or len(handles),
        borderaxespad=0.2,
        handlelength=1,
        handleheight=1,
        columnspacing=1.4,
    )


def bars(
    target: Axes,
    rows: Mapping[str, Sequence[float]],
    colours: Sequence[str],
    ends: Sequence[str] | None = None,
) -> None:
    """Horizontal stacked bars, the first row on top, a text behind each."""
    places = np.arange(len(rows))[::-1]
    lefts = np.zeros(len(rows))
    for index, colour in enumerate(colours):
        widths = np.array([parts[index] for parts in rows.values()], dtype=float)
        target.barh(places, widths, left=lefts, height=0.66, color=colour, edgecolor="white", linewidth=0.6)
        lefts += widths
    target.set_yticks(places, list(rows))
    target.tick_params(axis="y", length=0)
    target.spines["left"].set_visible(False)
    for place, end, text in zip(places, lefts, ends or [""] * len(rows), strict=True):
        target.annotate(text, (end, place), (5, 0), textcoords="offset points", va="center")
