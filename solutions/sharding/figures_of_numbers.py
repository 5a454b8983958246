"""Draws the figures of sections 1 and 2: `python -m solutions.sharding.figures_of_numbers [FOLDER]`.

Every result drawn comes from the reference solutions beside this file; none is typed in.
"""

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
from solutions.sharding.collectives import collective_bytes, collective_time_s
from solutions.sharding.cuts import (
    context_parallel,
    data_parallel,
    pipeline_parallel,
    sequence_parallel,
    tensor_parallel,
    zero,
)
from specs import Gpt, Link

FOLDER = Path(__file__).parents[2] / "assignments" / "sharding" / "figures"
COLOURS = (SKY, CORAL, YELLOW, GREEN)
HALF_SUMMED = "#e9dfc0"
STATE = {"weights": BLUE, "gradients": SKY, "optimizer": YELLOW, "activations": PURPLE}
GPT3 = Gpt(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048)


def _bare(target: Axes, width: float, height: float) -> None:
    """Axes for drawing boxes on: no frame, no ticks."""
    target.set(xlim=(0, width), ylim=(0, height), xticks=(), yticks=())
    for side in target.spines.values():
        side.set_visible(False)


def _box(target: Axes, x: float, y: float, width: float, height: float, colour: str, text: str = "") -> None:
    target.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor="white", linewidth=1))
    if text:
        target.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=8)


def ring_figure() -> Figure:
    """Four GPUs all-reduce a tensor of four pieces: whose sum each piece is after every step of the ring."""
    gpus, wide, pace = 4, 0.95, 1.3
    steps = 2 * (gpus - 1)
    figure = canvas(3.0)
    target = axes(figure, 0.1, 0.1, 0.1, 0.1)
    _bare(target, 0.75 + pace * steps + wide, 5.3)
    # Of each GPU, by piece: whose contributions are in it.
    parts = [[{gpu} for _ in range(gpus)] for gpu in range(gpus)]
    sent = 0
    for step in range(steps + 1):
        left = 0.75 + pace * step
        target.text(left + wide / 2, 5, f"step {step}" if step else "start", ha="center")
        for gpu, row in enumerate(parts):
            for piece, having in enumerate(row):
                bottom = _place(gpu, piece)
                colour = COLOURS[piece] if len(having) == gpus else GREY if len(having) == 1 else HALF_SUMMED
                _box(target, left, bottom, wide, 0.25, colour)
                text = "+".join(str(each) for each in sorted(having))
                target.text(left + wide / 2, bottom + 0.115, text, ha="center", va="center", fontsize=6)
        if step == steps:
            break
        before = [[set(having) for having in row] for row in parts]
        for gpu in range(gpus):
            piece, receiver = (gpu - step) % gpus, (gpu + 1) % gpus
            reducing = step < gpus - 1
            parts[receiver][piece] = before[gpu][piece] | (before[receiver][piece] if reducing else set())
            sent += 1
            target.annotate(
                "",
                (left + pace, _place(receiver, piece) + 0.125),
                (left + wide, _place(gpu, piece) + 0.125),
                arrowprops={"arrowstyle": "->", "color": FAINT, "linewidth": 0.8, "shrinkA": 1, "shrinkB": 1},
            )
    for gpu in range(gpus):
        target.text(0, _place(gpu, 1), f"GPU {gpu}", va="center")
    assert all(len(having) == gpus for row in parts for having in row)
    assert sent / gpus == collective_bytes("all_reduce", gpus, gpus)
    return figure


def _place(gpu: int, piece: int) -> float:
    """Lower edge of a piece's box."""
    return 3.75 - 1.2 * gpu + 0.25 * (3 - piece)


def time_figure() -> Figure:
    """Seconds of an all-reduce over 64 GPUs by ring and by tree against its size; and in nodes of 8."""
    inside, network = (
        Link(latency_s=10e-6, bandwidth_bytes_per_s=450e9),
        Link(latency_s=20e-6, bandwidth_bytes_per_s=50e9),
    )
    figure = canvas(3.0)
    target = axes(figure, 0.75, 0.5, 0.25, 0.35)
    sizes = np.logspace(3, 10, 60)
    lines = {
        "ring over the network": (BLUE, lambda size: collective_time_s("all_reduce", size, 64, network)),
        "tree over the network": (
            CORAL,
            lambda size: collective_time_s("all_reduce", size, 64, network, "tree"),
        ),
        "hierarchical, nodes of 8": (
            GREEN,
            lambda size: collective_time_s("all_reduce", size, 64, inside, "ring", 8, network),
        ),
    }
    for colour, seconds in lines.values():
        target.loglog(sizes, [seconds(size) * 1e3 for size in sizes], color=colour, linewidth=1.6)
    legend(target, {name: colour for name, (colour, _) in lines.items()})
    target.set(xlabel="bytes of the tensor", ylabel="ms")
    target.set_xlim(sizes[0], sizes[-1])
    return figure


def three_cuts_figure() -> Figure:
    """A network of four layers on two GPUs, cut three ways: whose each box is, by colour."""
    figure = canvas(2.9)
    target = axes(figure, 0.1, 0.1, 0.1, 0.1)
    _bare(target, 15, 6)
    mine, theirs = SKY, CORAL
    titles = ("the batch: data parallel", "the matmuls: tensor parallel", "the depth: pipeline parallel")
    sends = (
        "all-reduce of gradients,\nonce a step",
        "all-reduce of activations,\n4 a layer and micro-batch",
        "activations to the next stage,\ngradients back",
    )
    for number, (title, send) in enumerate(zip(titles, sends, strict=True)):
        target.text(5 * number + 2.3, 5.7, title, ha="center", weight="bold")
        target.text(5 * number + 2.3, 0.35, send, ha="center", va="center", fontsize=8)
    for layer in range(4):
        y = 4.55 - 0.8 * layer
        _box(target, 0.3, y, 1.9, 0.65, mine, f"layer {layer + 1}")
        _box(target, 2.5, y, 1.9, 0.65, theirs, f"layer {layer + 1}")
        _box(target, 5.8, y, 1.5, 0.65, mine, "half of")
        _box(target, 7.3, y, 1.5, 0.65, theirs, f"layer {layer + 1}")
        _box(target, 11.1, y, 2.4, 0.65, mine if layer < 2 else theirs, f"layer {layer + 1}")
    _box(target, 0.3, 1.2, 1.9, 0.5, mine, "half batch")
    _box(target, 2.5, 1.2, 1.9, 0.5, theirs, "half batch")
    _box(target, 5.8, 1.2, 3.0, 0.5, GREY, "whole batch, on both")
    _box(target, 11.1, 1.2, 2.4, 0.5, GREY, "batch, piecewise")
    target.plot((10.8, 13.8), (3.68, 3.68), color=INK, linewidth=1, linestyle=":")
    return figure


def held_figure() -> Figure:
    """What one of 8 GPUs holds of GPT-3 and a step of 8 sequences, cut by cut."""
    shares = {
        "data": data_parallel(GPT3, 8, 8),
        "ZeRO-1": zero(GPT3, 8, 8, 1),
        "ZeRO-2": zero(GPT3, 8, 8, 2),
        "ZeRO-3": zero(GPT3, 8, 8, 3),
        "tensor": tensor_parallel(GPT3, 1, 8, 8),
        "tensor + sequence": sequence_parallel(GPT3, 1, 8, 8),
        "pipeline, first stage": pipeline_parallel(GPT3, 1, 8, 8, 0),
        "pipeline, last stage": pipeline_parallel(GPT3, 1, 8, 8, 7),
        "context": context_parallel(GPT3, 1, 8, 8),
    }
    rows = {
        name: [value / 1e9 for value in share.held.model_dump().values()] for name, share in shares.items()
    }
    ends = [f"{share.held.total / 1e9:.0f}, sends {share.sent_bytes / 1e9:.0f}" for share in shares.values()]
    figure = canvas(3.4)
    target = axes(figure, 1.45, 0.5, 1.0, 0.35)
    bars(target, rows, list(STATE.values()), ends)
    legend(target, STATE)
    target.set_xlabel("GB on one GPU of 8, and GB that it sends in a step; GPT-3, 8 sequences of 2048 tokens")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "collective_bytes": ring_figure,
    "collective_time_s": time_figure,
    "three_cuts": three_cuts_figure,
    "held_by_cut": held_figure,
}


if __name__ == "__main__":
    draw(FIGURES, Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
