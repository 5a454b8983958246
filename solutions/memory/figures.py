"""Draws the handout's figures, one SVG an exercise: `python solutions/memory/figures.py [FOLDER]`.

Every result drawn comes from the reference solutions beside this file or from `specs`; none is typed in. The
same matplotlib gives the same bytes. What the figures look like is in drawing.py; sections 3 to 5 are in
figures_of_models.py.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

# A script's own folder is on its path, so the reference solutions are siblings here.
from activations import activation_bytes, kv_cache_bytes
from budget import surviving_gpus, training_memory
from drawing import (
    BLUE,
    CORAL,
    FAINT,
    GREEN,
    GREY,
    INK,
    PURPLE,
    RED,
    SKY,
    STYLE,
    YELLOW,
    axes,
    bars,
    canvas,
    legend,
)
from figures_of_models import (
    CHAPTER_PARAMETERS,
    expert_parameter_counts_figure,
    latent_parameter_counts_figure,
    parameter_count_figure,
    shape_from_parameter_count_figure,
)
from matplotlib.figure import Figure
from parameters import shape_from_parameter_count
from state import adapter_state_bytes, bf16_update_lost, state_bytes_per_parameter, zero_state_bytes

from specs import gpu, model, recipe

FOLDER = Path(__file__).parents[2] / "assignments" / "memory" / "figures"
GB = 1e9
STATE = {"weights": BLUE, "gradients": SKY, "master": YELLOW, "moments": CORAL}
CHAPTER_SEQUENCE = 2048  # tokens of the one sequence in the chapter's figure 1


def state_bytes_per_parameter_figure() -> Figure:
    """Bytes of one parameter under six recipes."""
    names = {
        "inference-bf16": "inference, bf16",
        "fp8-lm": "FP8-LM",
        "deepseek-v3-fp8": "DeepSeek-V3, fp8",
        "adamw-bf16": "AdamW, bf16",
        "adamw-bf16-fp32-gradients": "… fp32 gradients",
        "adamw-bf16-fp32-accumulation": "… fp32 accumulation",
    }
    states = {shown: state_bytes_per_parameter(recipe(name)) for name, shown in names.items()}
    rows = {shown: [getattr(state, kind) for kind in STATE] for shown, state in states.items()}
    figure = canvas(2.6)
    target = axes(figure, left=1.6, bottom=0.5)
    bars(target, rows, list(STATE.values()), [f"{state.total:g}" for state in states.values()])
    legend(target, STATE)
    target.set(xlim=(0, 22), xticks=range(0, 22, 2), xlabel="bytes per parameter")
    return figure


def bf16_update_lost_figure() -> Figure:
    """The numbers that bf16 has around 1, and the sums that are rounded back to it."""
    grid = [k / 1024 for k in range(1008, 1052) if bf16_update_lost(k / 1024, 0.0)]
    lost = [k / 4096 for k in range(-64, 65) if bf16_update_lost(1.0, k / 4096)]
    figure = canvas(1.9)
    target = axes(figure, left=0.3, bottom=0.45, right=0.3, top=0.1)
    target.axvspan(1 + min(lost), 1 + max(lost), 0, 0.62, color=CORAL, alpha=0.3, linewidth=0)
    target.vlines(grid, 0, 0.3, color=INK, linewidth=1.4)
    target.vlines(1.0, 0, 0.4, color=BLUE, linewidth=3)
    target.text(1.0, 0.43, "1.0", ha="center", color=BLUE, weight="bold")
    for update, height in ((0.001, 0.68), (0.005, 0.86)):
        vanishes = bf16_update_lost(1.0, update)
        colour = RED if vanishes else GREEN
        target.annotate(
            "", (1 + update, height), (1, height), arrowprops={"arrowstyle": "->", "color": colour}
        )
        arrives = min(grid, key=lambda number: abs(number - 1 - update))
        text = f"+ {update}: lost" if vanishes else f"+ {update}: arrives at {arrives:.4f}"
        target.text(1 + update + 0.0006, height, text, color=colour, va="center")
    target.text(1 + min(lost) - 0.0004, 0.52, "sums that round to 1.0", ha="right", va="center", color=RED)
    target.set(xlim=(min(grid) - 0.001, max(grid) + 0.001), ylim=(0, 1), yticks=[])
    target.set_xlabel("weight + update; a black line is a number that bf16 has")
    target.spines["left"].set_visible(False)
    return figure


def activation_bytes_figure() -> Figure:
    """Three ways to keep activations, and how they grow with the sequence."""
    parts = {
        "attention": SKY,
        "attention_scores": CORAL,
        "mlp": YELLOW,
        "norms": PURPLE,
        "layer_inputs": BLUE,
    }
    shape = shape_from_parameter_count(CHAPTER_PARAMETERS)
    heads = shape.layers

    def kept(sequence: int, recomputation: str) -> list[float]:
        terms = activation_bytes(shape.layers, shape.hidden, heads, sequence, 1, recomputation)
        return [getattr(terms, part) / GB for part in parts]

    rows = {way: kept(CHAPTER_SEQUENCE, way) for way in ("none", "selective", "full")}
    figure = canvas(4.4)
    above = axes(figure, left=1.0, bottom=2.85)
    bars(above, rows, list(parts.values()), [f"{sum(row):.1f} GB" for row in rows.values()])
    legend(above, parts)
    above.set(
        xlim=(0, 37),
        xlabel=f"GB, 7B model, one sequence of {CHAPTER_SEQUENCE} tokens",
        ylabel="recomputation",
    )
    below = axes(figure, left=1.0, bottom=0.5, top=2.3)
    lengths = [512, 1024, 2048, 4096, 8192]
    below.plot(lengths, [sum(kept(length, "none")) for length in lengths], "o-", color=CORAL, label="none")
    below.plot(
        lengths, [sum(kept(length, "selective")) for length in lengths], "o-", color=BLUE, label="selective"
    )
    below.plot(lengths, [sum(kept(length, "full")) for length in lengths], "o-", color=GREEN, label="full")
    below.set(xscale="log", yscale="log", xlabel="tokens in the sequence", ylabel="GB")
    below.set_xticks(lengths, [str(length) for length in lengths])
    below.set_xticks([], minor=True)
    below.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    below.legend(loc="upper left", ncols=3)
    below.set_ylim(0.1, 1500)
    return figure


def kv_cache_bytes_figure() -> Figure:
    """Bytes of cache that one token costs in six models."""
    names = {
        "llama2-13b": "Llama 2 13B",
        "llama3.1-405b": "Llama 3.1 405B",
        "qwen2.5-72b": "Qwen2.5 72B",
        "palm-540b": "PaLM 540B",
        "deepseek-v3": "DeepSeek-V3",
        "gpt2": "GPT-2 small",
    }
    parts = {"keys": BLUE, "values": SKY, "latent": CORAL, "rotary_keys": YELLOW}
    rows, ends = {}, []
    for name, shown in names.items():
        cache, attention = kv_cache_bytes(model(name), 1, 1, "bf16"), model(name).attention
        rows[shown] = [getattr(cache, part) / 1000 for part in parts]
        if attention.kind == "latent":
            kind = f"latent, {attention.heads} heads"
        else:
            family = {attention.heads: "MHA", 1: "MQA"}.get(attention.kv_heads, "GQA")
            kind = f"{family}, {attention.kv_heads} of {attention.heads} heads"
        ends.append(f"{cache.total:,.0f} ({kind})")
    figure = canvas(2.7)
    target = axes(figure, left=1.25, bottom=0.5)
    bars(target, rows, list(parts.values()), ends)
    legend(target, {"keys": BLUE, "values": SKY, "latent vector": CORAL, "rotary key": YELLOW})
    target.set(
        xlim=(0, 1250), xticks=range(0, 1000, 200), xlabel="cache for one token, bf16, thousands of bytes"
    )
    return figure


def adapter_state_bytes_figure() -> Figure:
    """State of a 65B model trained whole and by adapters, with the two smallest enlarged."""
    parameters, rank = 65_000_000_000, 64
    matrices = [(8192, 8192)] * 160
    kinds = {
        "base weights": BLUE, "constants": PURPLE, "adapters and their state": GREEN,
        "gradients": SKY, "moments": CORAL,
    }  # fmt: skip
    whole = state_bytes_per_parameter(recipe("adamw-bf16-no-master"))
    rows = {
        "AdamW, no master copy": [
            parameters * each / GB for each in (whole.weights, 0, 0, whole.gradients, whole.moments)
        ]
    }
    for name, shown in {
        "lora-bf16": "LoRA",
        "qlora-nf4": "QLoRA",
        "qlora-nf4-double": "QLoRA, double",
    }.items():
        state = adapter_state_bytes(parameters, matrices, rank, recipe(name))
        trained = state.adapter_weights + state.gradients + state.master + state.moments
        rows[shown] = [
            each / GB for each in (state.frozen_weights, state.quantization_constants, trained, 0, 0)
        ]
    figure = canvas(3.8)
    above = axes(figure, left=1.75, bottom=1.9, top=0.6)
    bars(above, rows, list(kinds.values()), [f"{sum(row):.1f}" for row in rows.values()])
    legend(above, kinds, columns=3)
    card = gpu("h100-sxm")
    above.vlines(card.memory_bytes / GB, 1.45, 3.6, color=RED, linewidth=1, linestyle="--")
    above.text(150, 0.5, f"red line: one H100, {card.memory_bytes / GB:.1f}", color=RED, va="center")
    above.set(xlim=(0, 850))
    below = axes(figure, left=1.75, bottom=0.5, top=2.4)
    small = {shown: row for shown, row in rows.items() if shown.startswith("QLoRA")}
    bars(below, small, list(kinds.values()), [f"{sum(row):.1f}" for row in small.values()])
    below.set(xlim=(0, 42.5), xlabel="GB of state, 65B model (below: QLoRA enlarged 20 times)")
    return figure


def zero_state_bytes_figure() -> Figure:
    """State that one GPU of 64 holds at the four stages."""
    parameters, gpus = 7_500_000_000, 64
    states = {
        f"stage {stage}": zero_state_bytes(parameters, recipe("adamw-fp16"), gpus, stage)
        for stage in range(4)
    }
    rows = {shown: [getattr(state, kind) / GB for kind in STATE] for shown, state in states.items()}
    figure = canvas(2.1)
    target = axes(figure, left=0.75, bottom=0.5)
    bars(target, rows, list(STATE.values()), [f"{state.total / GB:.1f} GB" for state in states.values()])
    legend(target, STATE)
    target.set(xlim=(0, 132), xlabel=f"GB on one of {gpus} GPUs, 7.5B model, AdamW in fp16")
    return figure


def memory_budget_figure() -> Figure:
    """The chapter's bill above the memories of eight cards, on one axis."""
    cards = {
        "t4": "T4", "l4": "L4", "a100-sxm-40gb": "A100 40 GB", "a100-sxm-80gb": "A100 80 GB",
        "h100-sxm": "H100", "h200-sxm": "H200", "b200-sxm": "B200", "mi300x": "MI300X",
    }  # fmt: skip
    shape = shape_from_parameter_count(CHAPTER_PARAMETERS)
    kept = activation_bytes(shape.layers, shape.hidden, shape.layers, CHAPTER_SEQUENCE, 1, "none").total
    bill = training_memory(CHAPTER_PARAMETERS, state_bytes_per_parameter(recipe("adamw-bf16")), kept)
    kinds = STATE | {"activations": GREY}
    survivors = surviving_gpus(bill.total, [gpu(name) for name in cards])
    rows = {"the bill": [getattr(bill, kind) / GB for kind in kinds] + [0, 0]}
    ends = [f"{bill.total / GB:.1f}"]
    for name, shown in cards.items():
        memory = gpu(name).memory_bytes / GB
        rows[shown] = [0] * len(kinds) + ([memory, 0] if name in survivors else [0, memory])
        ends.append(f"{memory:.1f}" + (" holds it" if name in survivors else ""))
    figure = canvas(3.4)
    target = axes(figure, left=1.05, bottom=0.5)
    bars(target, rows, [*kinds.values(), GREEN, FAINT], ends)
    legend(target, kinds)
    target.axvline(bill.total / GB, 0, 0.88, color=RED, linewidth=1, linestyle="--")
    target.set(xlim=(0, 250), xlabel="GB (10⁹ bytes, as a program sees them)")
    return figure


def checkpoint_figure() -> Figure:
    """Bytes alive over the passes of four layers, without and with a checkpoint a layer."""
    layers, shape = 4, shape_from_parameter_count(CHAPTER_PARAMETERS)

    def one(recomputation: str) -> float:
        return activation_bytes(1, shape.hidden, shape.layers, CHAPTER_SEQUENCE, 1, recomputation).total / GB

    whole, inputs = one("none"), one("full")
    plain, kept = [(0.0, 0.0)], [(0.0, 0.0)]  # (time, GB alive); a layer's forward takes 1, its backward 2
    for layer in range(1, layers + 1):
        plain.append((layer, layer * whole))
        kept.append((layer, layer * inputs))
    again = []  # when a layer is run once more; its input is part of what it keeps
    for done in range(1, layers + 1):
        plain.append((layers + 2 * done, (layers - done) * whole))
        start, left = kept[-1][0], layers - done
        again.append(start)
        kept += [(start + 1, left * inputs + whole), (start + 3, left * inputs)]
    figure = canvas(3.7)
    for bottom, top, line, title in (
        (2.25, 0.3, plain, "without"),
        (0.5, 2.05, kept, "with a checkpoint a layer"),
    ):
        target = axes(figure, left=0.65, bottom=bottom, top=top)
        times, alive = zip(*line, strict=True)
        target.fill_between(times, alive, color=BLUE if line is plain else GREEN, alpha=0.35, linewidth=0)
        target.plot(times, alive, color=BLUE if line is plain else GREEN, linewidth=1.6)
        target.axvline(layers, color=FAINT, linewidth=1, linestyle=":")
        target.text(layers / 2, 4.5, "forward", ha="center", va="center")
        target.text(layers + 0.2, 4.5, "backward", va="center")
        target.text(16, 4.5, f"{title}: at most {max(alive):.2f} GB", ha="right", va="center", weight="bold")
        target.set(xlim=(0, 16.2), ylim=(0, 5), yticks=range(0, 5), ylabel="GB alive", xticks=range(0, 17, 2))
    for start in again:
        target.axvspan(start, start + 1, 0, 0.62, color=YELLOW, alpha=0.5, linewidth=0)
    target.text(again[1], 3.35, "yellow: the layer runs forward once more", va="center", color=INK)
    target.set_xlabel("time, in forward passes of one layer; its backward takes two")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "state_bytes_per_parameter": state_bytes_per_parameter_figure,
    "bf16_update_lost": bf16_update_lost_figure,
    "shape_from_parameter_count": shape_from_parameter_count_figure,
    "parameter_count": parameter_count_figure,
    "expert_parameter_counts": expert_parameter_counts_figure,
    "latent_parameter_counts": latent_parameter_counts_figure,
    "activation_bytes": activation_bytes_figure,
    "kv_cache_bytes": kv_cache_bytes_figure,
    "adapter_state_bytes": adapter_state_bytes_figure,
    "zero_state_bytes": zero_state_bytes_figure,
    "memory_budget": memory_budget_figure,
    "checkpoint": checkpoint_figure,
}


def draw(folder: Path) -> None:
    """Write every figure into `folder`, as <exercise>.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context(STYLE):
        for name, figure in FIGURES.items():
            figure().savefig(folder / f"{name}.svg", metadata=nothing)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
