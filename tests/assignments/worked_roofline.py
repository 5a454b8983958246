"""What the roofline handout works out, recomputed by the reference solutions, for test_handout.py.

`WORKED` is what the paragraphs of a section that begin with `Worked:` print in bold, in their order. `PROSE`
is what else must stand in a section, `losses` the table of section 6, and `introduction` what the page opens
with.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from grader.checks.mistakes import load_solution
from specs import Cost, Op, StepTime, element_flops, gpu, model, recipe

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def _solution(file: str) -> ModuleType:
    return load_solution(SOLUTIONS, "roofline", file)


costs, roofline, fusion = _solution("costs.py"), _solution("roofline.py"), _solution("fusion.py")
layers, training = _solution("layers.py"), _solution("training.py")

CARD = gpu("h100-sxm")
TABLE = element_flops()
LLAMA = model("llama2-7b")
LLAMA_PARAMETERS = 6_738_415_616
SQUARE = costs.matmul_cost(2048, 2048, 2048, "bf16")
ROW = costs.matmul_cost(1, 4096, 4096, "bf16")


def _intensity(cost: Cost, digits: int = 1) -> str:
    return f"{roofline.arithmetic_intensity(cost):.{digits}f} FLOP/B"


def _reachable(cost: Cost, digits: int = 0) -> str:
    flops_per_s = roofline.attainable_flops(roofline.arithmetic_intensity(cost), CARD, "bf16")
    return f"{flops_per_s / 1e12:.{digits}f} TFLOP/s"


def _matmuls() -> list[str]:
    int4 = costs.matmul_cost(1, 4096, 4096, "bf16", weight_dtype="int4")
    return [
        f"{SQUARE.flops:,} FLOPs", _intensity(SQUARE, 0),
        f"{ROW.flops:,} FLOPs", _intensity(ROW), _intensity(int4),
    ]  # fmt: skip


def _optimizer() -> list[str]:
    one, whole = (
        costs.optimizer_step_cost(count, recipe("adamw-bf16"), TABLE) for count in (1, 7_000_000_000)
    )
    traffic = Cost(flops=0, bytes_read=whole.bytes_read, bytes_written=whole.bytes_written)
    arithmetic = Cost(flops=whole.flops, bytes_read=0, bytes_written=0)
    return [
        f"{one.bytes_moved:g} bytes",
        f"{whole.bytes_moved / 1e9:.0f} GB",
        f"{1e3 * roofline.time_s(traffic, CARD, 'fp32'):.0f} ms",
        f"{whole.flops / 1e9:.0f} GFLOP",
        f"{1e3 * roofline.time_s(arithmetic, CARD, 'fp32'):.1f} ms",
    ]


def _attention() -> list[str]:
    naive, flash = (
        costs.attention_cost(1, 1, 1, 32_768, 32_768, 128, "bf16", way, TABLE) for way in ("naive", "flash")
    )
    assert naive.flops == flash.flops
    return [
        f"{flash.flops / 1e9:.0f} GFLOP",
        f"{naive.bytes_moved / 1e9:.2f} GB",
        f"{flash.bytes_moved / 1e6:.1f} MB",
        f"{naive.bytes_moved / flash.bytes_moved:.0f}",
    ]


def _decode() -> list[str]:
    def cost(batch: int, kv_heads: int) -> Cost:
        result: Cost = costs.decode_cost(batch, 32, kv_heads, 4096, 128, "bf16", TABLE)
        return result

    all_heads, shared = cost(1, 32), cost(1, 8)
    assert all_heads.flops == shared.flops
    assert _intensity(cost(64, 32)) == _intensity(all_heads)
    assert _intensity(cost(64, 8)) == _intensity(shared)
    return [
        f"{all_heads.bytes_moved / 1e6:.1f} MB", f"{all_heads.flops / 1e6:.1f} MFLOP", _intensity(all_heads),
        f"{shared.bytes_moved / 1e6:.1f} MB", _intensity(shared),
    ]  # fmt: skip


def _one_plot() -> list[str]:
    assert roofline.bound(SQUARE, CARD, "bf16") == "compute"
    assert roofline.bound(ROW, CARD, "bf16") == "memory"
    return [
        _intensity(SQUARE, 0),
        f"{roofline.ridge_point(CARD, 'bf16'):.0f} FLOP/B",
        _reachable(SQUARE),
        f"{1e6 * roofline.time_s(SQUARE, CARD, 'bf16'):.1f} µs",
        _reachable(ROW, 1),
        f"{1e6 * roofline.time_s(ROW, CARD, 'bf16'):.1f} µs",
    ]


def _tokens(weights: str, *widths: int) -> str:
    return f"{roofline.critical_batch(CARD, 'bf16', weights, *widths):.0f} tokens"


def _critical() -> list[str]:
    assert roofline.critical_batch(CARD, "bf16", "bf16", 590, 590) == float("inf")
    assert roofline.critical_batch(CARD, "bf16", "bf16", 591, 591) < float("inf")
    return [_tokens("bf16"), _tokens("int8"), _tokens("bf16", 4096, 4096), _tokens("bf16", 1024, 1024)]


def _fused() -> list[str]:
    elements = 2048 * 4096
    tensor = 2 * elements
    chain = [
        Op(name="bias", flops=elements, reads={"x": tensor, "bias": 2 * 4096}, writes={"t": tensor}),
        Op(name="gelu", flops=TABLE.gelu * elements, reads={"t": tensor}, writes={"y": tensor}),
        Op(name="residual", flops=elements, reads={"y": tensor, "r": tensor}, writes={"z": tensor}),
    ]
    cost = fusion.fused_cost(chain)
    assert roofline.bound(cost.after, CARD, "bf16") == "memory"
    before_s, after_s = (roofline.time_s(each, CARD, "bf16") for each in (cost.before, cost.after))
    return [
        f"{cost.before.bytes_moved / 1e6:.1f} MB", f"{cost.after.bytes_moved / 1e6:.1f} MB",
        _intensity(cost.before, 2), _intensity(cost.after, 2), f"{before_s / after_s:.1f}",
    ]  # fmt: skip


def _launched() -> list[str]:
    times = fusion.launch_bound([2e-6] * 100, 5e-6, 10e-6)
    return [f"{1e6 * times.eager_s:.0f} µs", f"{1e6 * times.graph_s:.0f} µs"]


@cache
def _training(name: str, batch: int, sequence: int) -> tuple[StepTime, float, float]:
    """Time by kind, predicted MFU, and the share of FLOPs that are no model FLOPs, of a training step."""
    ops = [
        op
        for phase in ("forward", "backward")
        for op in layers.layer_costs(model(name), batch, sequence, phase, "bf16", TABLE)
    ]
    flops = sum(op.count * op.cost.flops for op in ops)
    rest = sum(op.count * op.cost.flops for op in ops if op.kind == "memory")
    return layers.step_time(ops, CARD, "bf16"), layers.predicted_mfu(ops, CARD, "bf16"), rest / flops


def _step() -> list[str]:
    time, _, rest = _training("llama2-7b", 4, 4096)
    decode = layers.layer_costs(LLAMA, 1, 4096, "decode", "bf16", TABLE)
    return [
        *(f"{1e3 * each:.0f} ms" for each in (time.matmul, time.attention, time.memory, time.total)),
        f"{100 * time.memory / time.total:.1f} %",
        f"{100 * rest:.2f} %",
        f"{1e3 * layers.step_time(decode, CARD, 'bf16').total:.1f} ms",
        f"{100 * layers.predicted_mfu(decode, CARD, 'bf16'):.1f} %",
    ]


def losses() -> list[str]:
    """The last two cells of each row of the table "Why real runs land at 30 to 50 %"."""
    time, mfu, _ = _training("llama2-7b", 4, 4096)
    forward = layers.step_time(layers.layer_costs(LLAMA, 4, 4096, "forward", "bf16", TABLE), CARD, "bf16")
    optimizer = costs.optimizer_step_cost(LLAMA_PARAMETERS, recipe("adamw-bf16"), TABLE)

    def real(step: StepTime) -> float:
        return float(step.matmul / 0.70 + step.attention / 0.50 + step.memory / 0.85)

    seconds = [
        time.total,
        time.matmul / 0.70 + time.attention + time.memory,
        time.matmul / 0.70 + time.attention / 0.50 + time.memory,
        real(time),
        real(time) + optimizer.bytes_moved / CARD.hbm_bytes_per_s / 0.85,
    ]
    seconds.append(1.10 * seconds[-1])
    seconds.append(seconds[-1] + 1.10 * real(forward))
    return [f"{1e3 * each:.0f} ms | {100 * mfu * time.total / each:.0f} %" for each in seconds]


def _section_6() -> list[str]:
    def flash(sequence: int) -> float:
        cost = costs.attention_cost(1, 32, 32, sequence, sequence, 128, "bf16", "flash", TABLE, causal=True)
        return float(roofline.arithmetic_intensity(cost))

    cache_bytes = costs.decode_cost(1, 32, 32, 4096, 128, "bf16", TABLE).bytes_read * LLAMA.layers
    weights_bytes = sum(
        op.count * op.cost.bytes_read
        for op in layers.layer_costs(LLAMA, 1, 1, "decode", "bf16", TABLE)
        if op.kind == "matmul"
    )
    promised, small = (_training(*step)[1] for step in (("llama2-7b", 4, 4096), ("gpt2", 8, 1024)))
    return [
        f"{flash(4096):.0f} at 4096 tokens, {flash(512):.0f} at 512",
        f"{weights_bytes / 1e9:.1f} GB of weights and {cache_bytes / 1e9:.1f} GB of cache",
        f"an MFU of {100 * promised:.0f} %",
        f"GPT-2 at batch 8 is promised {100 * small:.0f} %",
    ]


def _days() -> list[str]:
    flops = training.training_flops(175e9, 300e9, "8nd")
    return [f"{flops / 1e23:.1f}·10²³ FLOPs", f"{training.training_days(flops, 1024, 140e12):.1f} days"]


def _utilisation() -> list[str]:
    flops = training.training_flops(12 * 12 * 768**2 + 50_257 * 768, 1, "palm", 12, 768, 1024)
    run = (flops, 100 * 1024 / 0.755, 1, gpu("a100-sxm-80gb").peak_flops("bf16"))
    return [
        f"{flops / 1e6:.0f} MFLOP",
        f"{100 * training.mfu(*run):.1f} %",
        f"{100 * training.hfu(*run, 'full'):.1f} %",
    ]


def _lever() -> list[str]:
    change = training.lever("quantised_weights", parameters=7_000_000_000, weights_after="nf4").bytes_change
    before = 14e9
    return [
        f"{-change / 1e9:.1f} GB",
        *(f"{1e3 * each / CARD.hbm_bytes_per_s:.1f} ms" for each in (before + change, before)),
    ]


def introduction() -> list[str]:
    """The chapter's figure 2, and its slider at one row."""
    whole = (
        100
        * roofline.attainable_flops(roofline.arithmetic_intensity(SQUARE), CARD, "bf16")
        / CARD.peak_flops("bf16")
    )
    one_row = costs.matmul_cost(1, 2048, 2048, "bf16")
    return [
        _intensity(SQUARE, 0).replace("/B", ""),
        _reachable(SQUARE),
        f"{whole:.0f} %",
        f"delivers {_reachable(one_row)}",
    ]


WORKED: dict[int, Callable[[], list[str]]] = {
    1: lambda: [*_matmuls(), *_optimizer()],
    2: lambda: [*_attention(), *_decode()],
    3: _one_plot,
    4: _critical,
    5: lambda: [*_fused(), *_launched()],
    6: _step,
    7: lambda: [*_days(), *_utilisation()],
    8: _lever,
}
PROSE: dict[int, Callable[[], list[str]]] = {
    3: lambda: [f"its bytes would need {1e6 * SQUARE.bytes_moved / CARD.hbm_bytes_per_s:.1f} µs"],
    6: _section_6,
}
TOPICS = ("roofline", "mfu", "flops")
"""Topics of published values; those that mislead are asked about at the end."""
