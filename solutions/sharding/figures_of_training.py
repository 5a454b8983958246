"""Draws the figures of sections 8, 9 and 10: `python -m solutions.sharding.figures_of_training [FOLDER]`.

Times of all_reduces, buckets, shards and the schedule come from the reference solutions beside this file and from the
oracle of their checks; none is typed in. What the figures look like is in solutions/drawing.py.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels_ref.shards.training import buckets, shard_elements
from solutions.drawing import BLUE, CORAL, FAINT, INK, SKY, YELLOW, axes, bars, canvas, draw, legend
from solutions.sharding.bubbles import pipeline_schedule
from solutions.sharding.collectives import collective_time_s
from specs import Link, gpu

FOLDER = Path(__file__).parents[2] / "assignments" / "sharding" / "figures"
GPUS, TOKENS = 8, 16_384
WIDTH, LAYERS = 768, 12
LINK = Link(latency_s=10e-6, bandwidth_bytes_per_s=50e9)
LAYER = (
    WIDTH, WIDTH, 3 * WIDTH * WIDTH, 3 * WIDTH, WIDTH * WIDTH, WIDTH,
    WIDTH, WIDTH, 4 * WIDTH * WIDTH, 4 * WIDTH, 4 * WIDTH * WIDTH, WIDTH,
)  # fmt: skip
"""Elements of the parameters of a layer of GPT-2 small, in the order of the module."""
USED_OF_PEAK = 0.4


def distributed_data_parallel_figure() -> Figure:
    """Backward and the wire beside each other, for one all_reduce, one for each parameter, and buckets."""
    per_second = USED_OF_PEAK * gpu("h100-sxm").peak_flops("bf16")
    layer_s = 4 * sum(LAYER) * TOKENS / per_second  # backward: two products for each of the forward pass
    sizes = {
        layer * len(LAYER) + index: 4 * elements
        for layer in range(LAYERS)
        for index, elements in enumerate(LAYER)
    }
    rows = {
        "one all_reduce": 1 << 40,
        "one for each\nparameter": 1,
        "buckets of\n25 MiB": 25 << 20,
    }
    figure = canvas(2.9)
    target = axes(figure, left=1.15, bottom=0.5, right=0.85)
    for place, (name, bucket_bytes) in enumerate(rows.items()):
        top = -2.6 * place
        for number in range(LAYERS):
            target.barh(
                top, 1e3 * layer_s, left=1e3 * number * layer_s, height=0.9, color=BLUE, edgecolor="white"
            )
        free_s = 0.0
        for bucket in buckets(sizes, bucket_bytes):
            ready_s = layer_s * (LAYERS - min(bucket) // len(LAYER))
            takes_s = collective_time_s("all_reduce", sum(sizes[each] for each in bucket), GPUS, LINK)
            start_s = max(ready_s, free_s)
            free_s = start_s + takes_s
            target.barh(
                top - 1,
                1e3 * takes_s,
                left=1e3 * start_s,
                height=0.9,
                color=CORAL,
                edgecolor="white",
                linewidth=0.3,
            )
        target.text(1e3 * free_s, top - 1, f"  {1e3 * free_s:.1f} ms", va="center")
        target.text(-0.02, top - 0.5, name, ha="right", va="center", transform=target.get_yaxis_transform())
    target.set(
        yticks=[],
        xlabel=f"ms; {LAYERS} layers of GPT-2 small, {GPUS} GPUs, {TOKENS:,} tokens each, 50 GB/s between them",
    )
    target.spines["left"].set_visible(False)
    legend(target, {"backward, a layer each": BLUE, "all_reduce": CORAL})
    return figure


def fsdp_figure() -> Figure:
    """What a rank holds of the handout's eight blocks, by how much is cut."""
    ranks, blocks, block = 3, 8, 9216
    own, whole = blocks * shard_elements(block, ranks), blocks * block
    rows = {
        "data parallel": (4 * whole, 4 * whole, 8 * whole, 0),
        "ZeRO-1": (4 * whole, 4 * whole, 8 * shard_elements(whole, ranks), 0),
        "ZeRO-3, between steps": (4 * own, 4 * own, 8 * own, 0),
        "ZeRO-3, a block in backward": (4 * own, 4 * own, 8 * own, 2 * 4 * block),
    }
    figure = canvas(2.1)
    target = axes(figure, left=2.1, bottom=0.5, right=0.8)
    kilobytes = {name: [each / 1e3 for each in parts] for name, parts in rows.items()}
    colours = {"weights": BLUE, "gradients": SKY, "moments": YELLOW, "gathered, with its gradient": CORAL}
    ends = [f"{sum(parts):,.0f} kB" for parts in kilobytes.values()]
    bars(target, kilobytes, list(colours.values()), ends)
    target.set_xlabel(f"kB on a rank; {blocks} blocks of {block:,} parameters on {ranks} ranks, fp32")
    legend(target, colours)
    return figure


def run_pipeline_figure() -> Figure:
    """1F1B of three stages and four micro-batches, with every message."""
    schedule = pipeline_schedule("1f1b", 3, 4, backward=1)
    at = {(stage, micro_batch, direction): time for time, stage, micro_batch, direction in schedule}
    figure = canvas(2.2)
    target = axes(figure, left=0.75, bottom=0.3, right=0.2)
    for (stage, micro_batch, direction), time in at.items():
        colour = SKY if direction == "F" else YELLOW
        target.barh(-stage, 1, left=time, height=0.5, color=colour, edgecolor="white")
        target.text(time + 0.5, -stage, f"{direction}{micro_batch}", ha="center", va="center")
        there = (stage + 1, micro_batch, "F") if direction == "F" else (stage - 1, micro_batch, "B")
        if there in at:
            _message(target, (time + 1, -stage), (at[there], -there[0]), CORAL if direction == "B" else BLUE)
    target.set_yticks([0, -1, -2], [f"stage {stage}" for stage in range(3)])
    target.tick_params(axis="both", length=0)
    target.set_xticks([each + 0.5 for each in range(12)], [str(each) for each in range(12)])
    for side in ("left", "bottom"):
        target.spines[side].set_visible(False)
    target.tick_params(axis="x", colors=FAINT)
    legend(target, {"activation": BLUE, "gradient of an activation": CORAL})
    return figure


def _message(target: Axes, start: Sequence[float], end: Sequence[float], colour: str) -> None:
    down = 0.25 if end[1] > start[1] else -0.25
    target.annotate(
        "",
        xy=(end[0] + 0.12, end[1] - down),
        xytext=(start[0] - 0.12, start[1] + down),
        arrowprops={"arrowstyle": "->", "color": colour, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.3},
        color=INK,
    )


FIGURES = {
    "distributed_data_parallel": distributed_data_parallel_figure,
    "fsdp": fsdp_figure,
    "run_pipeline": run_pipeline_figure,
}

if __name__ == "__main__":
    draw(FIGURES, Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
