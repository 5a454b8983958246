"""Draws the figures of sections 3 and 4: `python -m solutions.sharding.figures_of_pipelines [FOLDER]`.

Every result drawn comes from the reference solutions beside this file or from `specs`; none is typed in. The Gantt
chart is that of `grader schedule`, which draws the same bytes with the same matplotlib; its SVG is kept.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from solutions.drawing import (
    BLUE,
    CORAL,
    GREY,
    PURPLE,
    RED,
    SKY,
    YELLOW,
    axes,
    bars,
    canvas,
    draw,
    legend,
)
from solutions.sharding.bubbles import bubble_fraction, pipeline_peak_activations
from solutions.sharding.choice import plan
from specs import Cluster, Gpt, Plan, gpu, plan_cost

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "assignments" / "sharding" / "figures"
STAGES = 8
MODEL = Gpt(layers=80, hidden=8192, heads=64, vocab=32000, sequence=8192)
BATCH = 128
CLUSTER = Cluster(gpu=gpu("h100-sxm"), gpus=64, network_gb_per_s=12.5)  # 100 Gb/s a GPU


def bubble_fraction_figure() -> Figure:
    """The bubble over both denominators against microbatches, and what the first stage holds meanwhile."""
    figure = canvas(3.0)
    left = axes(figure, left=0.65, bottom=0.5, right=3.9, top=0.55)
    counts = [1, 2, 4, 8, 16, 32, 64, 128]
    plain = [bubble_fraction("1f1b", STAGES, count) for count in counts]
    left.plot(counts, [100 * each.over_ideal for each in plain], "o-", color=CORAL, label="over the work")
    left.plot(counts, [100 * each.of_total for each in plain], "o-", color=BLUE, label="of the time")
    deep = [count for count in counts if count % STAGES == 0]
    for chunks, dashes in ((2, (4, 2)), (4, (1, 1.5))):
        shares = [100 * bubble_fraction("interleaved", STAGES, count, chunks).of_total for count in deep]
        left.plot(deep, shares, color=BLUE, linestyle=(0, dashes), label=f"of the time, {chunks} chunks")
    left.set(xscale="log", ylim=(0, 105), xlabel="microbatches", ylabel=f"bubble, %, {STAGES} stages")
    left.set_xticks(counts, [str(count) for count in counts])
    left.set_xticks([], minor=True)
    left.legend(loc="lower left", bbox_to_anchor=(-0.1, 1), ncols=2, fontsize=8, borderaxespad=0.2)
    right = axes(figure, left=4.25, bottom=0.5, right=0.25, top=0.55)
    for kind, name, colour in (("gpipe", "GPipe", CORAL), ("1f1b", "1F1B", BLUE)):
        held = [pipeline_peak_activations(kind, STAGES, count)[0] for count in counts]
        right.plot(counts, held, "o-", color=colour, label=name)
    right.set(xscale="log", yscale="log", xlabel="microbatches", ylabel="held by stage 0, microbatches")
    right.set_xticks(counts, [str(count) for count in counts])
    right.set_yticks(counts, [str(count) for count in counts])
    right.set_xticks([], minor=True)
    right.set_yticks([], minor=True)
    right.legend(loc="lower left", bbox_to_anchor=(-0.1, 1), ncols=2, fontsize=8, borderaxespad=0.2)
    return figure


def plan_figure() -> Figure:
    """Time and memory of five plans for one job: the fastest that fits, and four that somebody would try."""
    parts = {
        "compute": ("compute_s", BLUE),
        "tensor": ("tensor_s", CORAL),
        "context and sends": ("context_s", SKY),
        "bubble": ("bubble_s", GREY),
        "data": ("data_s", YELLOW),
    }
    held = {
        "weights": BLUE,
        "gradients": SKY,
        "optimizer": YELLOW,
        "gathered": CORAL,
        "activations": PURPLE,
    }
    best = plan(MODEL, BATCH, CLUSTER)
    plans = {
        "the best": best,
        "without recomputing": best.model_copy(update={"recomputation": "none"}),
        "ZeRO-3 alone": Plan(
            data=64, tensor=1, pipeline=1, context=1, zero=3, recomputation="full", microbatch=1
        ),
        "node by node": Plan(
            data=8, tensor=8, pipeline=1, context=1, zero=1, recomputation="selective", microbatch=1
        ),
        "as deep as it goes": Plan(
            data=4, tensor=1, pipeline=16, context=1, zero=1, recomputation="full", microbatch=1
        ),
    }
    costs = {name: plan_cost(MODEL, BATCH, CLUSTER, each) for name, each in plans.items()}
    assert not any(each.problem for each in costs.values())
    times = {
        name: [
            getattr(each, part) + (each.send_s if part == "context_s" else 0) for part, _ in parts.values()
        ]
        for name, each in costs.items()
    }
    figure = canvas(4.5)
    above = axes(figure, left=1.5, bottom=2.75, right=0.45)
    bars(
        above,
        times,
        [colour for _, colour in parts.values()],
        [f"{each.step_s:.1f} s" for each in costs.values()],
    )
    legend(above, {name: colour for name, (_, colour) in parts.items()})
    above.set(
        xlim=(0, 32), xlabel="seconds of a step, 65B on 64 H100s at 12.5 GB/s, 128 sequences of 8192 tokens"
    )
    below = axes(figure, left=1.5, bottom=0.5, right=0.45, top=2.65)
    bytes_held = {name: [getattr(each, part) / 1e9 for part in held] for name, each in costs.items()}
    ends = [f"{each.gpu_bytes / 1e9:.1f} GB{'' if each.fits else ', too much'}" for each in costs.values()]
    bars(below, bytes_held, list(held.values()))
    for place, text in zip(reversed(range(len(ends))), ends, strict=True):
        below.text(390, place, text, ha="right", va="center")
    legend(below, held)
    below.axvline(CLUSTER.gpu.memory_bytes / 1e9, 0, 1, color=RED, linewidth=1, linestyle="--")
    below.set(xlim=(0, 390), xlabel="GB on the fullest GPU; red: what an H100 has")
    return figure


def draw_schedules(folder: Path) -> None:
    """GPipe above 1F1B as `grader schedule` draws them.

    Raises:
        RuntimeError: it could not; the message is its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rooflab-figures-") as scratch:
        stem = Path(scratch) / "pipeline_schedule"
        command = [sys.executable, "-m", "grader.cli", "schedule"]
        command += ["--submission", str(ROOT / "solutions"), "--out", str(stem)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr or done.stdout)
        shutil.copy(stem.with_suffix(".svg"), folder / "pipeline_schedule.svg")


FIGURES: dict[str, Callable[[], Figure]] = {
    "bubble_fraction": bubble_fraction_figure,
    "plan": plan_figure,
}


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    draw(FIGURES, target)
    draw_schedules(target)
