"""Draws the handout's figures of training as a whole: sections 7 and 8."""

from collections.abc import Callable
from functools import partial

from matplotlib.figure import Figure

from solutions.drawing import (
    BLUE,
    CORAL,
    FAINT,
    GREEN,
    INK,
    RED,
    axes,
    bars,
    canvas,
    legend,
)
from solutions.roofline.costs import matmul_cost, optimizer_step_cost
from solutions.roofline.training import hfu, lever, mfu, training_flops
from specs import DTYPE_BYTES, LeverEffect, element_flops, gpu, model, recipe

TABLE = element_flops()
A100, H100 = gpu("a100-sxm-80gb").peak_flops("bf16"), gpu("h100-sxm").peak_flops("bf16")


def training_flops_figure() -> Figure:
    """FLOPs of one token of Llama 3 8B, as four conventions count them."""
    llama = model("llama3-8b")
    # As its users count: without the token embedding, which no matmul reads.
    parameters = 8_030_261_248 - llama.vocab * llama.hidden
    lengths = [2 ** (k / 8) for k in range(80, 137)]
    figure = canvas(3.0)
    target = axes(figure, left=0.65, bottom=0.5, right=1.0, top=0.15)
    marked = 8192
    for convention, colour in (("palm", CORAL), ("causal", BLUE), ("8nd", FAINT), ("6nd", INK)):

        def gflops(length: float, convention: str = convention) -> float:
            return training_flops(parameters, 1, convention, llama.layers, llama.hidden, length) / 1e9  # type: ignore[arg-type]

        values = [gflops(length) for length in lengths]
        target.plot(lengths, values, color=colour, linewidth=1.8)
        target.annotate(
            convention,
            (lengths[-1], values[-1]),
            (5, 0),
            textcoords="offset points",
            va="center",
            color=colour,
        )
        if convention in ("palm", "causal"):
            target.plot(marked, gflops(marked), "o", color=colour)
            offset, side = ((-5, 6), "right") if convention == "palm" else ((6, -9), "left")
            target.annotate(
                f"{gflops(marked):.1f}",
                (marked, gflops(marked)),
                offset,
                textcoords="offset points",
                ha=side,
                color=colour,
            )
    target.set(
        xscale="log", yscale="log", xlabel="tokens in a sequence", ylabel="GFLOP a token", ylim=(40, 300)
    )
    thousands = [2**k for k in range(8)]
    target.set_xticks([1024 * each for each in thousands], [f"{each}k" for each in thousands])
    target.set_xticks([], minor=True)
    target.set_yticks([50, 100, 200], ["50", "100", "200"])
    target.set_yticks([], minor=True)
    return figure


def _megatron(gpus: int, layers: int, hidden: int, batch: int, step_s: float) -> tuple[float, float]:
    """MFU and HFU of one row of Korthikanti's table 5, as its equations 7 and 8 count."""
    parameters = 12 * layers * hidden**2 + 51_200 * hidden
    flops = training_flops(parameters, 1, "palm", layers, hidden, 2048)
    tokens_per_s = batch * 2048 / step_s
    again = 12 * layers * hidden * 2048
    return mfu(flops, tokens_per_s, gpus, A100), hfu(flops, tokens_per_s, gpus, A100, "selective", again)


def _mosaic(parameters: int, layers: int, hidden: int, tokens_per_s: float) -> tuple[float, float]:
    """MFU and HFU of one H100 of a MosaicML run with full recomputation."""
    flops = training_flops(parameters, 1, "palm", layers, hidden, 2048)
    return mfu(flops, tokens_per_s, 1, H100), hfu(flops, tokens_per_s, 1, H100, "full")


def utilisation_figure() -> Figure:
    """MFU of published runs, and what recomputation adds to it."""
    nanogpt = training_flops(12 * 12 * 768**2 + 50_257 * 768, 1, "palm", 12, 768, 1024)
    nanogpt_mfu = mfu(nanogpt, 100 * 1024 / 0.755, 1, A100)
    palm = mfu(training_flops(540e9, 1, "palm", 118, 48 * 256, 2048), 238.3e3, 6144, 275e12)
    runs: dict[str, tuple[float, float]] = {
        "nanoGPT, GPT-2": (nanogpt_mfu, nanogpt_mfu),
        "PaLM 540B": (palm, palm),
        "Megatron 22B, selective": _megatron(8, 48, 6144, 4, 1.1),
        "Megatron 175B, selective": _megatron(64, 96, 12_288, 64, 13.75),
        "Megatron 530B, selective": _megatron(280, 105, 20_480, 280, 37.83),
        "Megatron 1T, selective": _megatron(512, 128, 25_600, 512, 71.49),
        "MosaicML 30B, full": _mosaic(29_975_214_080, 48, 7168, 2308),
        "MosaicML 70B, full": _mosaic(64_862_437_376, 80, 8192, 1007),
    }
    rows = {
        name: [100 * model_share, 100 * (hardware - model_share)]
        for name, (model_share, hardware) in runs.items()
    }
    ends = [f"{100 * m:.1f} / {100 * h:.1f}" if h > m else f"{100 * m:.1f}" for m, h in runs.values()]
    figure = canvas(3.0)
    target = axes(figure, left=1.85, bottom=0.5, top=0.4)
    bars(target, rows, [BLUE, CORAL], ends)
    legend(target, {"MFU": BLUE, "recomputed: up to HFU": CORAL})
    target.set(xlim=(0, 70), xlabel="% of the cards' dense peak")
    return figure


def lever_figure() -> Figure:
    """What seven techniques change on one GPU, for a 7B model."""
    llama, tokens, weights = model("llama2-7b"), 4096, 7_000_000_000
    heads, layers, size = llama.attention.heads, llama.layers, DTYPE_BYTES["bf16"]
    assert llama.mlp is not None
    scores = layers * heads * tokens**2 * size
    step = optimizer_step_cost(weights, recipe("adamw-bf16"), TABLE)
    scores_again = layers * matmul_cost(tokens, tokens, 128, "bf16", batch=heads).flops
    step_args = {"optimizer_bytes": step.bytes_moved, "optimizer_flops": step.flops}
    effects: dict[str, Callable[[], LeverEffect]] = {
        "fusion": partial(
            lever, "fusion", intermediate_bytes=layers * tokens * llama.mlp.intermediate * size
        ),
        "flash": partial(lever, "flash", score_bytes=scores, logsumexp_bytes=layers * heads * tokens * 4),
        "recomputation": partial(lever, "recomputation", activation_bytes=scores, forward_flops=scores_again),
        "4-bit weights": partial(lever, "quantised_weights", parameters=weights, weights_after="nf4"),
        "batch 1 → 16": partial(lever, "larger_batch", weight_bytes=weights * size, batch_after=16),
        "ZeRO 1, 8 GPUs": partial(lever, "zero", gpus=8, **step_args),
        "offload": partial(
            lever, "offload", gradient_bytes=weights * size, weight_bytes=weights * size, **step_args
        ),
    }
    figure = canvas(3.0)
    left = axes(figure, left=1.3, bottom=0.55, right=2.75, top=0.35)
    right = axes(figure, left=4.95, bottom=0.55, right=0.3, top=0.35)
    for row, effect in enumerate(change() for change in effects.values()):
        gigabytes, tera = effect.bytes_change / 1e9, effect.flops_change / 1e12
        left.barh(-row, gigabytes, height=0.6, color=BLUE)
        left.annotate(
            f"{gigabytes:.1f}".replace("-", "−"),
            (gigabytes, -row),
            (-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
        )
        right.barh(-row, tera, height=0.6, color=RED if tera > 0 else GREEN)
        shown = f"{tera:+.2f}".replace("-", "−") if tera else "0"
        right.annotate(shown, (max(tera, 0), -row), (4, 0), textcoords="offset points", va="center")
    left.set_yticks([-row for row in range(len(effects))], list(effects))
    right.set_yticks([])
    for target in (left, right):
        target.tick_params(axis="y", length=0)
        target.spines["left"].set_visible(False)
        target.axvline(0, color=INK, linewidth=1)
    left.set(xlim=(-215, 0), xlabel="change in GB moved")
    right.set(xlim=(-0.6, 6.6), xlabel="change in TFLOP")
    return figure
