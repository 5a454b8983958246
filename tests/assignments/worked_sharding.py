"""What the sharding handout works out, recomputed by the reference solutions, for test_handout.py.

`WORKED` is what the paragraphs of a section that begin with `Worked:` print in bold, in their order. `PROSE`
is what else must stand in a section, and `introduction` what the page opens with.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

from grader.checks.mistakes import load_solution
from specs import Cluster, Gpt, Link, Plan, gpu, plan_cost

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def _solution(file: str) -> ModuleType:
    return load_solution(SOLUTIONS, "sharding", file)


def _gb(count: float) -> str:
    return f"{count / 1e9:.1f} GB"


collectives, cuts = _solution("collectives.py"), _solution("cuts.py")
GPT3 = Gpt(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048)
NVLINK = Link(latency_s=10e-6, bandwidth_bytes_per_s=450e9)
NETWORK = Link(latency_s=20e-6, bandwidth_bytes_per_s=50e9)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs"


def _section_1() -> list[str]:
    time_s = collectives.collective_time_s
    return [
        _gb(collectives.collective_bytes("all_reduce", 14e9, 8)),
        _ms(time_s("all_reduce", 14e9, 8, NVLINK)),
        _ms(time_s("all_reduce", 14e9, 8, NVLINK, "tree")),
        _us(time_s("all_reduce", 4096, 8, NVLINK)),
        _us(time_s("all_reduce", 4096, 8, NVLINK, "tree")),
        _ms(time_s("all_reduce", 14e9, 16, NETWORK)),
        _ms(time_s("all_reduce", 14e9, 16, NVLINK, "ring", 8, NETWORK)),
    ]


def _section_2() -> list[str]:
    tensor, data = cuts.tensor_parallel(GPT3, 1, 8, 8), cuts.data_parallel(GPT3, 8, 8)
    return [
        _gb(tensor.held.weights),
        _gb(tensor.held.activations),
        _gb(cuts.sequence_parallel(GPT3, 1, 8, 8).held.activations),
        _gb(data.held.weights),
        *(_gb(cuts.zero(GPT3, 8, 8, stage).held.total) for stage in (1, 2, 3)),
        _gb(tensor.sent_bytes),
        _gb(data.sent_bytes),
    ]


bubbles, choice = _solution("bubbles.py"), _solution("choice.py")
GPT_13B = Gpt(layers=40, hidden=5120, heads=40, vocab=50304, sequence=2048)
GPT_65B = Gpt(layers=80, hidden=8192, heads=64, vocab=32000, sequence=8192)
H100S, SLOW = (Cluster(gpu=gpu("h100-sxm"), gpus=64, network_gb_per_s=rate) for rate in (50, 12.5))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _section_3() -> list[str]:
    plain, deep = bubbles.bubble_fraction("1f1b", 8, 32), bubbles.bubble_fraction("interleaved", 8, 32, 4)
    few = bubbles.bubble_fraction("1f1b", 8, 8)
    peaks = [bubbles.pipeline_peak_activations(kind, 4, 8) for kind in ("gpipe", "1f1b")]
    ends = [max(time + (1 if what == "F" else 2) for time, _, _, what in bubbles.pipeline_schedule(kind, 4, 8))
            for kind in ("gpipe", "1f1b")]  # fmt: skip
    assert ends[0] == ends[1]
    return [
        _percent(plain.of_total), _percent(plain.over_ideal), _percent(deep.of_total), _percent(deep.over_ideal),
        _percent(few.of_total),
        *(", ".join(map(str, each)) for each in peaks), f"{ends[0]:g}", f"{8 * 3}",
    ]  # fmt: skip


def _section_4() -> list[str]:
    first = [choice.first_choice(GPT_13B, 128, where) for where in (H100S, SLOW)]
    alone = Plan(data=64, tensor=1, pipeline=1, context=1, zero=3, recomputation="full", microbatch=1)
    nodes = Plan(data=8, tensor=8, pipeline=1, context=1, zero=1, recomputation="selective", microbatch=1)
    plans = [alone, nodes, choice.plan(GPT_65B, 128, SLOW)]
    return [
        f"{choice.dp_critical_batch_tokens(990e12, 450e9):,.0f}",
        f"{choice.dp_critical_batch_tokens(990e12, 400e9):,.0f}",
        f"{choice.dp_critical_batch_tokens(990e12, 400e9, stages=8):.0f}",
        f"{choice.tp_limit(28672, 990e12, 450e9):.1f}",
        f"{choice.ring_attention_min_block(312e12, 300e9):,.0f}",
        *(text for each in first for text in (each.cut, f"{each.gpu_bytes / 1e9:.1f} GB")),
        *(f"{plan_cost(GPT_65B, 128, SLOW, each).step_s:.1f} s" for each in plans),
    ]


def _section_6() -> list[str]:
    parts = [1 * 3, 2 * 4]
    all_reduced = collectives.collective_bytes("all_reduce", 2048 * 12288 * 2, 8)
    return [f"{sum(parts) + 10}", f"{all_reduced / 1e6:.1f} MB", f"{all_reduced * 4 * 96 / 1e9:.1f} GB"]


def _section_7() -> list[str]:
    lse = math.log(math.exp(0) + math.exp(math.log(3)))
    out = math.exp(0 - lse) * 1 + math.exp(math.log(3) - lse) * 5
    keys = 131072 * 8 * 128 * 2
    return [f"{out:.0f}", f"{lse:.3f}", f"{2 * keys * 7 / 8 / 1e6:.1f} MB"]


GPT2_PARAMETERS = 124_439_808  # params.gpt2-small of the memory assignment


def _section_8() -> list[str]:
    import torch

    from kernels_ref.shards import training

    examples = [(1.0, -2.0), (2.0, -1.0), (3.0, -4.0)]
    parts = [(1 / 3, [0], torch.tensor([[x]]), torch.tensor([[target]])) for x, target in examples]
    (gradient,) = training.gradients([torch.zeros(1, 1)], parts, torch.float64)
    all_reduced = collectives.collective_bytes("all_reduce", 4 * GPT2_PARAMETERS, 8)
    return [f"{gradient.item():.2f}", f"{4 * GPT2_PARAMETERS / 1e6:.1f} MB", f"{all_reduced / 1e6:.1f} MB"]


def _section_9() -> list[str]:
    from kernels_ref.shards import training

    block, part = 9216, training.shard_elements(9216, 3)
    gathered = collectives.collective_bytes("all_gather", 4 * block, 3)
    scattered = collectives.collective_bytes("reduce_scatter", 4 * block, 3)
    return [
        f"{8 * training.shard_elements(2047, 3)} bytes",
        f"{16 * part * 8:,} bytes",
        f"{2 * gathered + scattered:,.0f} bytes",
    ]


def _section_10() -> list[str]:
    stages, micro_batches = 3, 4
    bubble = Fraction(stages - 1, micro_batches + stages - 1)
    return [str(bubble), f"{2 * (stages - 1) * micro_batches} messages"]


def _section_5() -> list[str]:
    return [f"{collectives.collective_bytes('all_reduce', 4000, ranks):,.0f} bytes" for ranks in (4, 64)]


def introduction() -> list[str]:
    """Section 1 of the chapter, and what ZeRO makes of it on eight GPUs."""
    return [f"{7 * 16} GB", f"{7 * 16 // 8} GB"]


WORKED: dict[int, Callable[[], list[str]]] = {
    1: _section_1,
    2: _section_2,
    3: _section_3,
    4: _section_4,
    5: _section_5,
    6: _section_6,
    7: _section_7,
    8: _section_8,
    9: _section_9,
    10: _section_10,
}
PROSE: dict[int, Callable[[], list[str]]] = {}
TOPICS = ("comm", "parallel")
"""Topics of published values; those that mislead are asked about at the end."""
