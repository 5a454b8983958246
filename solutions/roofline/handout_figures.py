"""Draws the handout's figures but the rooflines of a step: `python -m solutions.roofline.handout_figures [FOLDER]`.

Every result drawn comes from the reference solutions beside this file or from `specs`; none is typed in. What
the figures look like is in solutions/drawing.py; sections 7 and 8 are in figures_of_training.py, and the pictures
of section 6 in figures.py.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from solutions.drawing import (
    BLUE,
    CORAL,
    FAINT,
    GREEN,
    GREY,
    PURPLE,
    RED,
    SKY,
    YELLOW,
    axes,
    bars,
    canvas,
    draw,
)
from solutions.roofline.costs import (
    attention_cost,
    elementwise_cost,
    embedding_cost,
    matmul_cost,
    norm_cost,
    optimizer_step_cost,
    softmax_cost,
)
from solutions.roofline.figures_of_training import lever_figure, training_flops_figure, utilisation_figure
from solutions.roofline.fusion import fused_cost, launch_bound
from solutions.roofline.roofline import arithmetic_intensity, attainable_flops, critical_batch, ridge_point
from specs import Op, element_flops, gpu, recipe

FOLDER = Path(__file__).parents[2] / "assignments" / "roofline" / "figures"
CARD = gpu("h100-sxm")
TABLE = element_flops()
MB = 1e6


def log_ticks(target: Axes, x: dict[float, str] | None = None, y: dict[float, str] | None = None) -> None:
    """Plain numbers on logarithmic axes, and no small ticks between."""
    if x:
        target.set_xticks(list(x), list(x.values()))
        target.set_xticks([], minor=True)
    if y:
        target.set_yticks(list(y), list(y.values()))
        target.set_yticks([], minor=True)


def matmul_costs_figure() -> Figure:
    """FLOPs per byte of a matmul against one matrix of weights, as its rows grow."""
    width, rows = 4096, [2**k for k in range(18)]
    figure = canvas(2.9)
    target = axes(figure, left=0.7, bottom=0.5, top=0.15)
    for weights, colour in (("bf16", BLUE), ("int4", CORAL)):
        costs = [matmul_cost(m, width, width, "bf16", weight_dtype=weights) for m in rows]
        values = [arithmetic_intensity(cost) for cost in costs]
        target.plot(rows, values, color=colour, linewidth=1.8, label=f"weights in {weights}")
        target.plot(1, values[0], "o", color=colour)
        offset, side = ((8, -9), "left") if weights == "bf16" else ((-4, 7), "left")
        target.annotate(f"{values[0]:.1f}", (1, values[0]), offset, textcoords="offset points", ha=side)
    many = matmul_cost(10**9, width, width, "bf16")
    limit = round(arithmetic_intensity(many))
    target.axhline(limit, color=FAINT, linewidth=1, linestyle="--")
    target.text(1.2, limit * 1.15, f"limit {limit}: only activations are left to move", va="bottom")
    target.set(xscale="log", yscale="log", xlim=(0.8, rows[-1]), ylim=(0.5, 8000))
    target.set(xlabel=f"rows m, against {width} × {width} weights", ylabel="FLOP/B")
    ticks = {m: f"{m:,}" for m in (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)}
    log_ticks(target, ticks, {1: "1", 10: "10", 100: "100", 1000: "1000"})
    target.legend(loc="lower right")
    return figure


def memory_bound_costs_figure() -> Figure:
    """FLOPs per byte of six operations that reuse nothing."""
    tokens, hidden = 2048, 4096
    costs = {
        "embedding": embedding_cost(tokens, hidden, "bf16"),
        "residual addition": elementwise_cost(tokens * hidden, 2, 1, "bf16"),
        "AdamW step": optimizer_step_cost(tokens * hidden, recipe("adamw-bf16"), TABLE),
        "RMS norm": norm_cost("rmsnorm", tokens, hidden, "bf16", TABLE),
        "softmax": softmax_cost(tokens, hidden, "bf16", TABLE),
        "GELU": elementwise_cost(tokens * hidden, 1, TABLE.gelu, "bf16"),
    }
    values = {name: arithmetic_intensity(cost) for name, cost in costs.items()}
    matmul = arithmetic_intensity(matmul_cost(2048, 2048, 2048, "bf16"))
    figure = canvas(2.3)
    target = axes(figure, left=1.35, bottom=0.5, top=0.15)
    bars(
        target,
        {name: [value] for name, value in values.items()},
        [BLUE],
        [f"{value:.2f}" for value in values.values()],
    )
    ridge = ridge_point(CARD, "bf16")
    beside = f"a 2048³ matmul: {matmul:.0f},\nan H100's ridge: {ridge:.0f},\nboth far off the page"
    target.text(2.15, 3.5, beside, va="center", color=RED)
    target.set(xlim=(0, 3), xlabel=f"FLOP/B in bf16, {tokens} × {hidden} elements")
    return figure


def attention_costs_figure() -> Figure:
    """Bytes by sequence, naive and flash; and which pairs a causal mask leaves."""
    lengths = [2**k for k in range(8, 18)]
    figure = canvas(3.1)
    left = axes(figure, left=0.95, bottom=0.5, right=2.75, top=0.15)
    marked = 32_768
    for algorithm, colour, name in (("naive", CORAL, "naive: T²"), ("flash", BLUE, "flash: T")):

        def moved(length: int, algorithm: str = algorithm) -> float:
            return attention_cost(1, 1, 1, length, length, 128, "bf16", algorithm, TABLE).bytes_moved  # type: ignore[arg-type]

        left.plot(lengths, [moved(length) for length in lengths], color=colour, linewidth=1.8, label=name)
        left.plot(marked, moved(marked), "o", color=colour)
        size = moved(marked)
        shown = f"{size / 1e9:.2f} GB" if size > 1e9 else f"{size / MB:.1f} MB"
        offset = (-7, 4) if algorithm == "naive" else (-2, 8)
        left.annotate(shown, (marked, size), offset, textcoords="offset points", ha="right")
    left.set(xscale="log", yscale="log", xlabel="tokens T, one head of 128, bf16", ylabel="bytes moved")
    log_ticks(
        left,
        {256: "256", 1024: "1k", 4096: "4k", 16384: "16k", 65536: "64k"},
        {1e5: "100 kB", 1e6: "1 MB", 1e7: "10 MB", 1e8: "100 MB", 1e9: "1 GB", 1e10: "10 GB", 1e11: "100 GB"},
    )
    left.set_ylim(1e5, 3e11)
    left.legend(loc="upper left")
    queries, keys = 4, 7
    right = axes(figure, left=5.05, bottom=0.75, right=0.2, top=0.65)
    for query in range(queries):
        for key in range(keys):
            seen = key <= keys - queries + query
            box = Rectangle(
                (key, query), 1, 1, facecolor=SKY if seen else "white", edgecolor=FAINT, linewidth=0.8
            )
            right.add_patch(box)
    per_pair = 4 * 128 + TABLE.softmax
    causal = attention_cost(1, 1, 1, queries, keys, 128, "bf16", "flash", TABLE, causal=True).flops / per_pair
    right.set(xlim=(0, keys), ylim=(queries, 0), aspect="equal")
    right.set_xticks([k + 0.5 for k in range(keys)], [str(k) for k in range(keys)])
    right.set_yticks([q + 0.5 for q in range(queries)], [str(q) for q in range(queries)])
    right.tick_params(length=0)
    right.spines[["left", "bottom"]].set_visible(False)
    right.set(xlabel="key", ylabel="query", title=f"causal: {causal:g} of {queries * keys} pairs")
    right.title.set_fontsize(9)
    return figure


def roofline_model_figure() -> Figure:
    """The card's roofs in three formats, and four operations on that of bf16."""
    low, high = 0.03, 20_000.0
    figure = canvas(3.7)
    target = axes(figure, left=0.75, bottom=0.5, top=0.15)
    ridge = ridge_point(CARD, "bf16")
    target.axvspan(low, ridge, color=GREY, alpha=0.3, linewidth=0)
    target.text(16, 0.24, "waiting for memory", ha="right", va="bottom", color=FAINT)
    target.text(2 * ridge * 1.15, 0.24, "computing", ha="left", va="bottom", color=FAINT)
    for dtype, colour in (("fp8", PURPLE), ("bf16", BLUE), ("fp32", GREEN)):
        corner = ridge_point(CARD, dtype)
        intensities = [low, corner, high]
        roof = [attainable_flops(each, CARD, dtype) / 1e12 for each in intensities]
        target.plot(intensities, roof, color=colour, linewidth=2.4 if dtype == "bf16" else 1.4)
        target.text(
            high * 0.9, roof[-1] * 1.08, f"{dtype}: {roof[-1]:.1f}", ha="right", va="bottom", color=colour
        )
        target.plot([corner, corner], [0.2, roof[-1]], color=colour, linewidth=1, linestyle=":")
        target.plot(corner, roof[-1], "o", color=colour, markersize=4)
        target.annotate(
            f"{corner:.0f}", (corner, roof[-1]), (-3, 5), textcoords="offset points", ha="right", color=colour
        )
    points = {
        "copy and scale": elementwise_cost(2**23, 1, 1, "bf16"),
        "1 row × weights": matmul_cost(1, 4096, 4096, "bf16"),
        "softmax": softmax_cost(2048, 4096, "bf16", TABLE),
        "matmul of 2048³": matmul_cost(2048, 2048, 2048, "bf16"),
    }
    offsets = {
        "1 row × weights": (-9, 8),
        "softmax": (9, -9),
        "copy and scale": (9, -9),
        "matmul of 2048³": (0, -15),
    }
    for name, cost in points.items():
        x = arithmetic_intensity(cost)
        y = attainable_flops(x, CARD, "bf16") / 1e12
        target.plot(x, y, "o", color=CORAL, markersize=7, zorder=4)
        dx, dy = offsets[name]
        side = "right" if dx < 0 else "left"
        target.annotate(f"{name}: {x:.3g}", (x, y), (dx, dy), textcoords="offset points", ha=side)
    target.set(xscale="log", yscale="log", xlim=(low, high), ylim=(0.2, 6000))
    target.set(xlabel="arithmetic intensity, FLOP/B", ylabel="TFLOP/s of an H100 SXM")
    log_ticks(
        target,
        {0.1: "0.1", 1: "1", 10: "10", 100: "100", 1000: "1000", 10_000: "10,000"},
        {1: "1", 10: "10", 100: "100", 1000: "1000"},
    )
    (x0, y0), (x1, y1) = target.transData.transform([(1, 1), (10, 10)])
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    target.text(
        3, 3 * CARD.hbm_bytes_per_s / 1e12 * 1.25, f"{CARD.hbm_bytes_per_s / 1e12:g} TB/s",
        rotation=angle, rotation_mode="anchor", weight="bold",
    )  # fmt: skip
    return figure


def critical_batch_figure() -> Figure:
    """Tokens that a square layer needs, by its width and the format of its weights."""
    figure = canvas(3.0)
    target = axes(figure, left=0.75, bottom=0.5, right=1.6, top=0.15)
    widths = [int(width) for width in np.geomspace(512, 20_000, 240)]
    for weights, colour, name in (("bf16", BLUE, "bf16"), ("int8", GREEN, "int8"), ("nf4", CORAL, "4 bits")):
        needed = [critical_batch(CARD, "bf16", weights, width, width) for width in widths]
        target.plot(widths, needed, color=colour, linewidth=1.8)
        wide = critical_batch(CARD, "bf16", weights)
        target.axhline(wide, color=colour, linewidth=1, linestyle="--")
        target.text(21_000, wide, f"{name}, wide: {wide:.0f}", va="center", color=colour)
    never = max(
        width for width in range(512, 1024) if math.isinf(critical_batch(CARD, "bf16", "bf16", width, width))
    )
    target.axvspan(widths[0], never + 0.5, color=GREY, alpha=0.4, linewidth=0)
    target.text(720, 5000, f"up to a width of {never} no batch is enough", va="center")
    for width in (1024, 4096):
        needed_here = critical_batch(CARD, "bf16", "bf16", width, width)
        target.plot(width, needed_here, "o", color=BLUE)
        target.annotate(
            f"{needed_here:.0f}", (width, needed_here), (4, 5), textcoords="offset points", color=BLUE
        )
    target.set(xscale="log", yscale="log", xlim=(widths[0], widths[-1]), ylim=(50, 10_000))
    target.set(xlabel="width of a square layer", ylabel="tokens to reach the ridge")
    log_ticks(
        target,
        {width: f"{width:,}" for width in (512, 1024, 2048, 4096, 8192, 16384)},
        {100: "100", 1000: "1000", 10_000: "10,000"},
    )
    return figure


def fusion_figure() -> Figure:
    """A chain's bytes by tensor, apart and fused; and host and device over time, eagerly and as a graph."""
    elements = 2048 * 4096
    tensor = 2 * elements
    ops = [
        Op(name="bias", flops=elements, reads={"x": tensor, "b": 8192}, writes={"t": tensor}),
        Op(name="GELU", flops=TABLE.gelu * elements, reads={"t": tensor}, writes={"y": tensor}),
        Op(name="residual", flops=elements, reads={"y": tensor, "r": tensor}, writes={"z": tensor}),
    ]
    cost = fused_cost(ops)
    figure = canvas(3.9)
    above = axes(figure, left=1.2, bottom=2.75, top=0.2)
    pieces = [(name, op.name) for op in ops for name in (*op.reads, *op.writes) if name != "b"]
    fused = [piece for piece in pieces if piece[0] in "xrz"]
    colours = {"x": BLUE, "t": CORAL, "y": YELLOW, "r": SKY, "z": GREEN}
    for row, shown, total in ((1, pieces, cost.before), (0, fused, cost.after)):
        for index, (name, _) in enumerate(shown):
            left = index * tensor / MB
            above.barh(row, tensor / MB, left=left, height=0.66, color=colours[name], edgecolor="white")
            above.text(left + tensor / MB / 2, row, name, ha="center", va="center", weight="bold")
        above.text(len(shown) * tensor / MB + 1.5, row, f"{total.bytes_moved / MB:.1f} MB", va="center")
    above.set_yticks([1, 0], ["three kernels", "fused"])
    above.tick_params(axis="y", length=0)
    above.spines["left"].set_visible(False)
    above.set(xlim=(0, 135), ylim=(-0.5, 1.5), xlabel="MB moved: t = x + bias, y = GELU(t), z = y + r")
    below = axes(figure, left=1.2, bottom=0.5, top=1.85)
    kernels, launch, graph = [1.0, 1.0, 1.0, 100.0, 1.0, 1.0, 1.0], 10.0, 25.0
    whole = launch_bound(kernels, launch, graph)
    end = 0.0
    for index, length in enumerate(kernels):
        # The time of the first kernels alone is when the last of them ends.
        done = launch_bound(kernels[: index + 1], launch, graph).eager_s
        if done - length > end:
            below.barh(2, done - length - end, left=end, height=0.5, color=GREY, alpha=0.55)
        below.barh(3, launch, left=index * launch, height=0.5, color=SKY, edgecolor="white")
        below.barh(2, length, left=done - length, height=0.6, color=BLUE, edgecolor="white", linewidth=0.3)
        end = done
    below.text(end + 2, 2, f"{whole.eager_s:g} µs", va="center")
    below.barh(1, graph, left=0, height=0.5, color=SKY, edgecolor="white")
    below.barh(0, graph, left=0, height=0.5, color=GREY, alpha=0.55)
    start = graph
    for length in kernels:
        below.barh(0, length, left=start, height=0.6, color=BLUE, edgecolor="white", linewidth=0.3)
        start += length
    below.text(start + 2, 0, f"{whole.graph_s:g} µs", va="center")
    below.set_yticks([3, 2, 1, 0], ["host", "device", "host, a graph", "device"])
    below.tick_params(axis="y", length=0)
    below.spines["left"].set_visible(False)
    below.set(xlim=(0, 160), ylim=(-0.5, 3.5), xlabel="µs; grey: the device waits for a launch")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "matmul_costs": matmul_costs_figure,
    "memory_bound_costs": memory_bound_costs_figure,
    "attention_costs": attention_costs_figure,
    "roofline_model": roofline_model_figure,
    "critical_batch": critical_batch_figure,
    "fusion": fusion_figure,
    "training_flops": training_flops_figure,
    "utilisation": utilisation_figure,
    "lever": lever_figure,
}

if __name__ == "__main__":
    draw(FIGURES, Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
