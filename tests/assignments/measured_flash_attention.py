"""Runs the FlashAttention solution's kernels, interpreted or compiled, for worked_flash_attention.py: prints JSON.

A process of its own, because TRITON_INTERPRET must be set before anything imports triton: with it the kernels are
interpreted and metered, without it they are compiled for an H100.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from grader.checks.mistakes import load_solution
from grader.kernels.compiled import compile_call
from grader.kernels.recorder import call_recorded

SOLUTIONS = Path(__file__).parents[2] / "solutions"
WIDTHS = (64, 128)


def _gradients(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
    function = load_solution(SOLUTIONS, "flash_attention", "backward.py").FlashAttention
    out = function.apply(q, k, v, False)
    return torch.autograd.grad(out, (q, k, v), torch.ones_like(out))


def _heads(width: int) -> list[torch.Tensor]:
    """q, k and v of two heads of 256 tokens, as the handout's reports have them."""
    return [torch.ones(2, 256, width, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]


def _metered(function: Any, tensors: Sequence[torch.Tensor], **options: Any) -> dict[str, dict[str, Any]]:
    """What each kernel of a call did."""
    recorded = call_recorded(function, tensors, options)
    if recorded.error is not None:
        raise recorded.error
    return {
        launch.kernel: {
            "grid": launch.grid,
            "read": {each.tensor: each.read_bytes for each in launch.tensors},
            "flops": sum(launch.dot_flops.values()),
            "exps": launch.exps,
        }
        for launch in recorded.evidence.launches
    }


def interpreted() -> dict[str, Any]:
    """The numbers of sections 6 to 10."""
    norms, forward, decode = (
        load_solution(SOLUTIONS, "flash_attention", file) for file in ("norms.py", "forward.py", "decode.py")
    )
    row = call_recorded(norms.rms_norm_triton, (torch.tensor([[1.0, 2.0, 2.0]]), torch.ones(3), 0.0), {})
    causal = [torch.ones(512, 64, dtype=torch.bfloat16) for _ in range(3)]
    cache = [
        torch.ones(1, heads, tokens, 64, dtype=torch.bfloat16)
        for heads, tokens in ((4, 1), (1, 512), (1, 512))
    ]
    return {
        "rms_norm": row.value[0].tolist(),
        "passes": _metered(_gradients, _heads(64)),
        "causal": _metered(forward.flash_forward, causal, causal=True),
        "decode": _metered(decode.flash_decode, cache, splits=4),
    }


def compiled() -> list[list[Any]]:
    """Kernel, D, tile, warps, registers, spilled bytes, shared bytes, blocks on an SM, occupancy, HGMMA."""
    rows = []
    for width in WIDTHS:
        call = compile_call(_gradients, _heads(width))
        for each in call.launches:
            config = each.config
            if "COLS" in config:
                tile = f"{config['ROWS']}×{config['COLS']}, {config['num_warps']}, {config['num_stages']}"
                rows.append(
                    [each.kernel, width, tile, each.registers, each.spill_bytes, each.shared_bytes,
                     each.blocks_per_sm, each.occupancy, each.hgmma]
                )  # fmt: skip
    return rows


if __name__ == "__main__":
    print(json.dumps(interpreted() if os.environ.get("TRITON_INTERPRET") == "1" else compiled()))
