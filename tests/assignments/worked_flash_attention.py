"""What the flash_attention handout works out, recomputed by the reference solutions, for test_handout.py.

`WORKED` is what the paragraphs of a section that begin with `Worked:` print in bold, in their order. `PROSE`
is what else must stand in a section, and `introduction` what the page opens with.
"""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grader.checks.mistakes import load_solution
from specs.gpu import gpu

ROOT = Path(__file__).parents[2]
SOLUTIONS = ROOT / "solutions"


def _solution(file: str) -> ModuleType:
    return load_solution(SOLUTIONS, "flash_attention", file)


traffic = _solution("traffic.py")


@cache
def measured(interpreted: bool) -> Any:
    """What the solution's kernels do, interpreted, or what an H100's compiler says of them."""
    pytest.importorskip("triton", reason="triton is for Linux")
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"PYTHONPATH": str(ROOT)} | ({"TRITON_INTERPRET": "1"} if interpreted else {})
    command = [sys.executable, "-B", str(Path(__file__).with_name("measured_flash_attention.py"))]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, timeout=300, capture_output=True, text=True
    )
    return json.loads(ran.stdout)


def _held(algorithm: str, heads: int = 1) -> float:
    return float(traffic.attention_temporary_bytes(algorithm, 32_768, 128, "bf16", heads).total)


def _temporary() -> list[str]:
    return [
        f"{_held('naive') / 1e9:.3f} GB",
        f"{_held('flash') / 1e6:.2f} MB",
        f"{_held('naive', 32) / 1e9:.1f} GB",
        f"{_held('flash', 32) / 1e6:.1f} MB",
    ]


def _moved() -> list[str]:
    ways: list[tuple[str, int | None]] = [("naive", None), ("flash", None), ("flash", 128)]
    bytes_moved = [
        traffic.attention_hbm_bytes(algorithm, direction, 4096, 128, "bf16", rows=rows).total
        for algorithm, rows in ways
        for direction in ("forward", "backward")
    ]
    elements = [traffic.paper_hbm_elements(4096, 128, on_chip) / 1e6 for on_chip in (100_000, 200_000)]
    return [
        *(f"{each / 1e6:.1f} MB" for each in bytes_moved),
        f"{elements[0]:.1f} million elements",
        f"{elements[1]:.1f} million",
    ]


def _pieces() -> list[str]:
    torch = pytest.importorskip("torch")
    softmax = _solution("softmax.py")
    blocks = [torch.tensor([[1.0, 3.0]]), torch.tensor([[5.0, 2.0]])]
    (m, l_first), (m_last, l_last) = (softmax.online_softmax(iter(blocks[:count])) for count in (1, 2))
    parts = [(torch.tensor([[out]]), torch.tensor([lse])) for out, lse in ((0.0, 0.0), (8.0, math.log(3)))]
    out, lse = softmax.merge_partials(*parts)
    return [
        f"{m.item():g}", f"{l_first.item():.3f}", f"{m_last.item():g}", f"{l_last.item():.3f}",
        f"{out.item():.1f}", f"{lse.item():.3f}",
    ]  # fmt: skip


def _one_query() -> tuple[list[str], list[str]]:
    """Forward and backward of section 4's query."""
    torch = pytest.importorskip("torch")
    tiled = _solution("tiled.py")
    q, k, v = torch.tensor([[1.0]]), torch.tensor([[0.0], [math.log(3)]]), torch.tensor([[0.0], [8.0]])
    out, lse = tiled.tiled_attention(q, k, v, 1, 1, scale=1.0)
    dq, dk, dv = tiled.tiled_backward(q, k, v, out, lse, torch.ones(1, 1), 1, 1, scale=1.0)
    pairs = [f"({a:.{digits}f}, {b:.{digits}f})" for digits, (a, b) in ((2, dv[:, 0]), (1, dk[:, 0]))]
    forward = [f"{out.item():.1f}", f"{lse.item():.3f}"]
    return forward, [*(pair.replace("-", "−") for pair in pairs), f"{dq.item():.3f}"]


def _row() -> list[str]:
    return ["(" + ", ".join(f"{each:.3f}" for each in measured(interpreted=True)["rms_norm"]) + ")"]


def _grid() -> list[str]:
    kernel = measured(interpreted=True)["passes"]["_forward_kernel"]
    return [
        f"{math.prod(kernel['grid'])} programs",
        f"{kernel['read']['q'] / 1e3:.1f} kB",
        f"{kernel['read']['k'] / 1e3:.0f} kB",
        f"{kernel['flops'] / 1e6:.1f} MFLOP",
        f"{kernel['exps']:,} exponentials",
    ]


def _products() -> list[str]:
    kernels = measured(interpreted=True)["passes"]
    dkdv, dq = (kernels[name]["flops"] / 1e6 for name in ("_key_value_kernel", "_query_kernel"))
    least = 2 * 10 * 256**2 * 64 / 1e6  # two heads, five products
    return [f"{least:.1f} MFLOP", f"{dkdv + dq:.1f} MFLOP"]


def _causal() -> list[str]:
    whole = 4 * 512**2 * 64
    return [
        f"{measured(interpreted=True)['causal']['_forward_kernel']['flops'] / whole:.2%}".replace("%", " %")
    ]


CACHED = {"heads": 32, "kv_heads": 8, "tokens": 32_768, "head_dim": 128}
"""Section 10's cache, one sequence in bf16."""
SPLITS = 16


def _cache_bytes() -> int:
    return 2 * CACHED["kv_heads"] * CACHED["tokens"] * CACHED["head_dim"] * 2


def _split() -> list[str]:
    card = gpu("h100-sxm")
    workspace = CACHED["heads"] * SPLITS * (CACHED["head_dim"] + 1) * 4
    return [
        f"{_cache_bytes() / 1e6:.0f} MB",
        f"{_cache_bytes() / (card.hbm_gb_per_s * 1e9) * 1e6:.0f} µs",
        f"{CACHED['kv_heads']} programs",
        f"{CACHED['kv_heads'] * SPLITS} programs",
        f"{workspace / 1e3:.0f} kB",
    ]


def report() -> list[str]:
    """Rows of section 9's table: the solution's kernels, then those of kernels_ref, at D = 64 and 128."""
    ours = {"_forward_kernel": "forward", "_key_value_kernel": "dK, dV", "_query_kernel": "dQ"}
    rows = [("solution", ours[name], *rest) for name, *rest in measured(interpreted=False)]
    theirs = {"flash_forward": "forward", "flash_dkdv": "dK, dV", "flash_dq": "dQ"}
    table = json.loads((ROOT / "kernels_ref" / "h100_configs.json").read_text(encoding="utf-8"))["rows"]
    seen = set()
    for each in table:
        key = (each["kernel"], each["width"])
        wanted = each["dtype"] == "bfloat16" and each["descriptors"] and not each["causal"]
        # The first of a kernel and D that fits is the one that kernels_ref takes without a GPU to time on.
        if not wanted or key in seen or each["kernel"] not in theirs or each["width"] not in (64, 128):
            continue
        if each["fits"] and not each["spill_bytes"]:
            seen.add(key)
            how = each["config"]
            tile = f"{how['rows']}×{how['columns']}, {how['warps']}, {how['stages']}"
            rows.append(
                ("kernels_ref", theirs[each["kernel"]], each["width"], tile, each["registers"], each["spill_bytes"],
                 each["shared_bytes"], each["blocks_per_sm"], each["occupancy"], each["hgmma"])
            )  # fmt: skip
    order = list(theirs.values())
    rows.sort(key=lambda row: (row[2], order.index(row[1]), row[0] != "solution"))
    return [
        f"| {d} | {kernel} | {whose} | {tile} | {registers} | {spilled} | {shared / 1024:.0f} KiB | {blocks} | "
        f"{100 * occupancy:.0f} % | {hgmma} |"
        for whose, kernel, d, tile, registers, spilled, shared, blocks, occupancy, hgmma in rows
    ]


def introduction() -> list[str]:
    """The chapter's figure 3."""
    return [f"{_held('naive') / 1e9:.1f} GB", f"{_held('flash') / 1e6:.0f} MB"]


WORKED: dict[int, Callable[[], list[str]]] = {
    1: _temporary,
    2: _moved,
    3: _pieces,
    4: lambda: _one_query()[0],
    5: lambda: _one_query()[1],
    6: _row,
    7: _grid,
    8: _products,
    9: _causal,
    10: _split,
}
PROSE: dict[int, Callable[[], list[str]]] = {
    1: lambda: [
        f"{traffic.attention_temporary_bytes('flash', 32_768, 128, 'bf16').output / 1e6:.2f} MB of output",
        f"{traffic.attention_temporary_bytes('flash', 32_768, 128, 'bf16').logsumexp / 1e6:.2f} MB of logsumexp",
    ],
    2: lambda: [
        f"{traffic.attention_hbm_bytes('naive', 'forward', 4096, 128, 'bf16').scores / 1e6:.0f} MB of scores"
    ],
    7: lambda: [f"{2 * 256**2:,} scores"],
    8: lambda: [
        f"{measured(interpreted=True)['passes'][kernel]['flops'] / 1e6:.1f} for {what}"
        for kernel, what in (("_key_value_kernel", "dK and dV"), ("_query_kernel", "dQ"))
    ],
    10: lambda: [
        f"{sum(measured(interpreted=True)['decode']['_part_kernel']['read'][each] for each in 'kv') / 1e3:.0f} kB"
    ],
}
TOPICS = ("flash_attention",)
"""Topics of published values; those that mislead are asked about at the end."""
