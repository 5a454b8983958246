"""Draws the handout's figures of what a model stores: sections 3, 4 and 5."""

from itertools import pairwise

import numpy as np
from drawing import BLUE, CORAL, FAINT, GREY, INK, PURPLE, SKY, YELLOW, axes, bars, canvas, legend
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from parameters import expert_parameter_counts, parameter_count, shape_from_parameter_count

from specs import model

CHAPTER_PARAMETERS = (
    7_000_000_000  # the N of the chapter's figure 1; its shape is what the rule of thumb gives
)


def shape_from_parameter_count_figure() -> Figure:
    """Layers by the rule, with published models beside."""
    places = {  # name on the page, and where it stands relative to the dot, in points
        "gpt2": ("GPT-2 small", (4, 8)),
        "gpt2-xl": ("GPT-2 XL", (-6, 5)),
        "llama2-7b": ("Llama 2 7B", (-6, 5)),
        "llama2-13b": ("Llama 2 13B", (6, -10)),
        "llama2-70b": ("Llama 2 70B", (-8, 4)),
        "gpt3-175b": ("GPT-3 175B", (-8, 4)),
        "llama3.1-405b": ("Llama 3.1 405B", (-8, 4)),
        "palm-540b": ("PaLM 540B", (7, -11)),
    }
    counts = np.geomspace(1e8, 1.1e12, 160)
    figure = canvas(3.3)
    target = axes(figure, left=0.65, bottom=0.5, top=0.15)
    rule = [shape_from_parameter_count(int(count)).layers for count in counts]
    target.step(counts, rule, where="mid", color=BLUE, linewidth=1.6, label="N = 12·L·d², d = 128·L")
    for name, (shown, offset) in places.items():
        dot = (parameter_count(model(name)).total, model(name).layers)
        target.plot(
            *dot, "o", color=CORAL, markersize=6, label="published models" if name == "gpt2" else None
        )
        side = "right" if offset[0] < 0 else "left"
        target.annotate(shown, dot, offset, textcoords="offset points", ha=side, color=INK)
    chapter = shape_from_parameter_count(CHAPTER_PARAMETERS)
    target.vlines(CHAPTER_PARAMETERS, 0, chapter.layers, color=FAINT, linewidth=1, linestyle=":")
    target.text(CHAPTER_PARAMETERS * 1.07, 4, f"N = {CHAPTER_PARAMETERS / 1e9:g}·10⁹: L = {chapter.layers}")
    target.set(xscale="log", xlim=(1e8, 2e12), ylim=(0, 175), xlabel="parameters", ylabel="layers")
    target.legend(loc="upper left")
    return figure


def parameter_count_figure() -> Figure:
    """Shares of the parts in six dense models."""
    names = {
        "gpt2": "GPT-2 small",
        "mpt-7b": "MPT 7B",
        "llama2-7b": "Llama 2 7B",
        "llama3-8b": "Llama 3 8B",
        "gemma-7b": "Gemma 7B",
        "qwen3-0.6b": "Qwen3 0.6B",
    }
    parts = {
        "token_embedding": ("token embedding", BLUE),
        "position_embedding": ("positions", PURPLE),
        "attention": ("attention", SKY),
        "mlp": ("MLP", CORAL),
        "output_head": ("output head", YELLOW),
    }
    counts = {shown: parameter_count(model(name)) for name, shown in names.items()}
    rows = {
        shown: [100 * getattr(count, part) / count.total for part in parts] for shown, count in counts.items()
    }
    figure = canvas(2.7)
    target = axes(figure, left=1.05, bottom=0.5, right=1.15)
    ends = [f"{count.total / 1e6:,.0f} million" for count in counts.values()]
    bars(target, rows, [colour for _, colour in parts.values()], ends)
    legend(target, dict(parts.values()))
    target.set(xlim=(0, 100), xlabel="% of all parameters (norms are too thin to see)")
    return figure


def expert_parameter_counts_figure() -> Figure:
    """Always used, active and idle shares of five mixtures."""
    names = {
        "mixtral-8x7b": "Mixtral 8x7B",
        "gpt-oss-20b": "gpt-oss 20B",
        "qwen3-30b-a3b": "Qwen3 30B-A3B",
        "deepseek-v2": "DeepSeek-V2",
        "deepseek-v3": "DeepSeek-V3",
    }
    parts = {"always used": BLUE, "routed, visited by a token": CORAL, "routed, idle": GREY}
    rows, ends = {}, []
    for name, shown in names.items():
        count = expert_parameter_counts(model(name))
        pieces = (count.always_used, count.routed_active, count.routed - count.routed_active)
        rows[shown] = [100 * piece / count.total for piece in pieces]
        ends.append(f"{count.total / 1e9:.1f} / {count.active / 1e9:.1f}")
    figure = canvas(2.5)
    target = axes(figure, left=1.25, bottom=0.5, right=1.4)
    bars(target, rows, list(parts.values()), ends)
    legend(target, parts)
    target.text(1.02, 1.04, "total / active, 10⁹", transform=target.transAxes, va="bottom")
    target.set(xlim=(0, 100), xlabel="% of all parameters")
    return figure


def latent_parameter_counts_figure() -> Figure:
    """The way of one token through DeepSeek-V3's attention: widths as boxes, matrices as arrows."""
    shape = model("deepseek-v3")
    latent, hidden = shape.attention, shape.hidden
    queries = latent.heads * (latent.qk_nope_head_dim + latent.qk_rope_head_dim)
    rebuilt = latent.heads * (latent.qk_nope_head_dim + latent.v_head_dim)
    values = latent.heads * latent.v_head_dim
    figure = canvas(3.6)
    target = axes(figure, left=0.1, bottom=0.1, right=0.1, top=0.1)
    target.set(xlim=(0, 100), ylim=(0, 100))
    target.axis("off")

    def box(x: float, y: float, width: int, text: str, colour: str) -> None:
        height = 26 * (width / rebuilt) ** 0.5  # drawn in proportion, the rotary key would vanish
        target.add_patch(Rectangle((x - 1.2, y - height / 2), 2.4, height, color=colour, linewidth=0))
        target.text(x, y - height / 2 - 1.5, f"{text}\n{width:,}", ha="center", va="top", fontsize=8.5)

    def arrow(*points: tuple[float, float], text: str = "", at: tuple[float, float] = (0, 0)) -> None:
        for start, end in pairwise(points):
            style = "->" if end == points[-1] else "-"
            line = {"arrowstyle": style, "color": FAINT, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
            target.annotate("", end, start, arrowprops=line)
        target.text(*at, text, ha="center", va="bottom", fontsize=8.5)

    def size(inputs: int, outputs: int) -> str:
        return f"{inputs * outputs / 1e6:.1f} million"

    box(6, 58, hidden, "token, d", BLUE)
    box(33, 84, latent.q_lora_rank, "norm, q", CORAL)
    box(61, 84, queries, "queries, h·(n+r)", SKY)
    box(33, 45, latent.kv_lora_rank, "norm, c", CORAL)
    box(33, 13, latent.qk_rope_head_dim, "one rotary key, r", YELLOW)
    box(61, 45, rebuilt, "keys and values, h·(n+v)", SKY)
    box(80, 66, values, "heads' output, h·v", SKY)
    box(96, 66, hidden, "d", BLUE)
    down = latent.kv_lora_rank + latent.qk_rope_head_dim
    arrow((8, 62), (31, 83), text=size(hidden, latent.q_lora_rank), at=(15, 77))
    arrow((8, 57), (15, 51), (31, 45))
    arrow((15, 51), (31, 14), text=size(hidden, down), at=(23, 51))
    arrow((35, 84), (59, 84), text=size(latent.q_lora_rank, queries), at=(46, 85))
    arrow((35, 45), (59, 45), text=size(latent.kv_lora_rank, rebuilt), at=(46, 46))
    arrow((35, 13), (80, 13), (80, 44), text="shared by all heads", at=(61, 5))
    arrow((63, 82), (78, 69))
    arrow((63, 48), (78, 63))
    arrow((82, 66), (94, 66), text=size(values, hidden), at=(88, 68))
    return figure
