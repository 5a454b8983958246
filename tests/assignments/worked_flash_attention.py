"""What the flash_attention handout works out, recomputed by the reference solutions, for test_handout.py.

`WORKED` is what the paragraphs of a section that begin with `Worked:` print in bold, in their order. `PROSE`
is what else must stand in a section, and `introduction` what the page opens with.
"""

import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from grader.checks.mistakes import load_solution

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def _solution(file: str) -> ModuleType:
    return load_solution(SOLUTIONS, "flash_attention", file)


traffic, softmax, tiled = _solution("traffic.py"), _solution("softmax.py"), _solution("tiled.py")


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
    import torch

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
    import torch

    q, k, v = torch.tensor([[1.0]]), torch.tensor([[0.0], [math.log(3)]]), torch.tensor([[0.0], [8.0]])
    out, lse = tiled.tiled_attention(q, k, v, 1, 1, scale=1.0)
    dq, dk, dv = tiled.tiled_backward(q, k, v, out, lse, torch.ones(1, 1), 1, 1, scale=1.0)
    pairs = [f"({a:.{digits}f}, {b:.{digits}f})" for digits, (a, b) in ((2, dv[:, 0]), (1, dk[:, 0]))]
    forward = [f"{out.item():.1f}", f"{lse.item():.3f}"]
    return forward, [*(pair.replace("-", "−") for pair in pairs), f"{dq.item():.3f}"]


def introduction() -> list[str]:
    """The chapter's figure 3."""
    return [f"{_held('naive') / 1e9:.1f} GB", f"{_held('flash') / 1e6:.0f} MB"]


WORKED: dict[int, Callable[[], list[str]]] = {
    1: _temporary,
    2: _moved,
    3: _pieces,
    4: lambda: _one_query()[0],
    5: lambda: _one_query()[1],
}
PROSE: dict[int, Callable[[], list[str]]] = {
    1: lambda: [
        f"{traffic.attention_temporary_bytes('flash', 32_768, 128, 'bf16').output / 1e6:.2f} MB of output",
        f"{traffic.attention_temporary_bytes('flash', 32_768, 128, 'bf16').logsumexp / 1e6:.2f} MB of logsumexp",
    ],
    2: lambda: [
        f"{traffic.attention_hbm_bytes('naive', 'forward', 4096, 128, 'bf16').scores / 1e6:.0f} MB of scores"
    ],
}
TOPICS = ("flash_attention",)
"""Topics of published values; those that mislead are asked about at the end."""
