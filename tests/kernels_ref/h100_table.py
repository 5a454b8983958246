"""Writes kernels_ref/h100_configs.json: what the compiler says, for an H100, of every config of every kernel.

    python tests/kernels_ref/h100_table.py [CACHE]

takes half an hour on one core, less where the folder CACHE holds reports of kernels that have not changed, and
needs no GPU. kernels_ref prunes its configs by the table and its bench prints
it where there is no GPU. It is data, not an import, as kernels_ref may not import grader.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import triton

from grader.kernels.compiled import compile_call
from kernels_ref.attention import flash_attention_backward, flash_attention_forward, flash_decode
from kernels_ref.flash import backward, decode, forward
from kernels_ref.matmul import CONFIGS as MATMUL_CONFIGS
from kernels_ref.matmul import matmul
from kernels_ref.tuning import TABLE_FILE, Config

TARGET = "sm_90"
WIDTHS = (64, 128, 256)
HEADS, LENGTH = 16, 4096

Call = tuple[dict[str, Any], Callable[[], object]]


def calls(dtype: torch.dtype) -> Iterator[Call]:
    """Every kernel with each of its configs, masks and ways to load: what the row says of it, and the call."""
    for width in WIDTHS:
        x = torch.empty(1, HEADS, LENGTH, width, dtype=dtype)
        lse = torch.empty(1, HEADS, LENGTH)
        # Through pointers the masked kernel only, the larger one, and not the widest: TMA is what runs on an H100.
        for descriptors in (True, False) if width < max(WIDTHS) else (True,):
            for causal in (False, True) if descriptors else (True,):
                options = {"causal": causal, "descriptors": descriptors}
                for config in forward.CONFIGS:
                    yield (
                        row("flash_forward", dtype, width, config, options),
                        lambda x=x, config=config, options=options: flash_attention_forward(
                            x, x, x, config=config, **options
                        ),
                    )
                for number, configs in enumerate((backward.CONFIGS_DKDV, backward.CONFIGS_DQ)):
                    for config in configs:
                        # The other of the two kernels runs with the smallest tiles, compiled once.
                        pair = (
                            (config, backward.CONFIGS_DQ[-1])
                            if number == 0
                            else (backward.CONFIGS_DKDV[-1], config)
                        )
                        yield (
                            row(("flash_dkdv", "flash_dq")[number], dtype, width, config, options),
                            lambda x=x, lse=lse, pair=pair, options=options: flash_attention_backward(
                                x, x, x, x, lse, x, configs=pair, **options
                            ),
                        )
            for config in decode.CONFIGS:
                options = {"causal": False, "descriptors": descriptors}
                query, cache = x[:, :, :1], x[:, : HEADS // 4]
                yield (
                    row("flash_decode", dtype, width, config, options),
                    lambda query=query, cache=cache, config=config, options=options: flash_decode(
                        query, cache, cache, config=config, **options
                    ),
                )
    square = torch.empty(LENGTH, LENGTH, dtype=dtype)
    for descriptors in (True, False):
        for config in MATMUL_CONFIGS:
            yield (
                row("matmul", dtype, 1, config, {"causal": False, "descriptors": descriptors}),
                lambda config=config, descriptors=descriptors: matmul(
                    square, square, config=config, descriptors=descriptors
                ),
            )


def row(
    kernel: str, dtype: torch.dtype, width: int, config: Config, options: dict[str, Any]
) -> dict[str, Any]:
    """The part of a row that says what was compiled."""
    name = str(dtype).removeprefix("torch.")
    return {"kernel": kernel, "dtype": name, "width": width, **options, "config": config._asdict()}


def reported(what: dict[str, Any], call: Callable[[], object], cache: Path | None = None) -> dict[str, Any]:
    """The whole row: `what`, and the compile report of its kernel.

    Raises:
        RuntimeError: the host code failed, or launched no such kernel.
    """
    compiled = compile_call(call, target=TARGET, cache=cache)
    found = [launch for launch in compiled.launches if launch.kernel == f"{what['kernel']}_kernel"]
    if compiled.error is not None or not found:
        raise RuntimeError(f"{what}: {compiled.error or 'no such launch'}")
    launch = found[0]
    return {
        **what,
        "fits": launch.compiles and launch.spill_bytes == 0,
        "registers": launch.registers,
        "spill_bytes": launch.spill_bytes,
        "shared_bytes": launch.shared_bytes,
        "blocks_per_sm": launch.blocks_per_sm,
        "occupancy": round(launch.occupancy, 4),
        "limited_by": launch.limited_by,
        "hgmma": launch.hgmma,
        "message": launch.message,
    }


def main() -> None:
    """Compile everything and write the table; one line of progress a row."""
    rows = []
    with tempfile.TemporaryDirectory() as fresh:
        cache = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(fresh)
        for what, call in calls(torch.bfloat16):
            rows.append(reported(what, call, cache))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    made_by = {
        "target": TARGET,
        "triton": triton.__version__,
        "command": "python tests/kernels_ref/h100_table.py",
    }
    lines = ",\n".join(json.dumps(each) for each in rows)
    TABLE_FILE.write_text(f'{{"made_by": {json.dumps(made_by)}, "rows": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
