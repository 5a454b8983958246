"""Which tile sizes a kernel runs with: timed on a GPU among those that fit an H100, the first of them elsewhere.

`h100_configs.json` holds the compile report of every config of every kernel for sm_90, so that a config that
spills or does not fit is never tried. triton.autotune would do; it is done by hand here because tensor
descriptors carry the tile size, the choice must be the same for a class of shapes, and a student can read it.
"""

import json
import math
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import triton
from torch import Tensor
from triton.runtime.errors import OutOfResources

TABLE_FILE = Path(__file__).parent / "h100_configs.json"


class Config(NamedTuple):
    """Tile sizes and launch options of one kernel; what rows and columns are, each kernel says."""

    rows: int
    columns: int
    warps: int
    stages: int
    depth: int = 0
    """Of the inner tile of a matmul; 0 for the others."""


_fastest: dict[Hashable, Config] = {}


def pick(
    kernel: str,
    configs: Sequence[Config],
    x: Tensor,
    key: Hashable,
    launch: Callable[[Config], None],
    *,
    width: int,
    descriptors: bool,
    config: Config | None = None,
) -> Config:
    """Launch with the config given, or the best known for this kernel, device, dtype and key; return it.

    On a GPU an unknown key has every config that fits timed once. `launch` must give the same result however
    often it runs. x: an input, for its device and dtype; width: D, by which the table's rows are told apart; 1
    where the tiles do not depend on it.

    Raises:
        RuntimeError: on this GPU no config fits.
    """
    if config is None:
        candidates = fitting(kernel, configs, x.dtype, width, descriptors)
        if x.is_cuda:
            whole_key = (kernel, x.device, x.dtype, descriptors, key)
            if whole_key not in _fastest:
                _fastest[whole_key] = _time_all(kernel, candidates, launch)
            config = _fastest[whole_key]
        else:
            config = candidates[0]
    launch(config)
    return config


def fitting(
    kernel: str, configs: Sequence[Config], dtype: torch.dtype, width: int, descriptors: bool
) -> tuple[Config, ...]:
    """The configs that neither spill nor exceed an H100's shared memory, masked or not, in their order.

    The report is of bf16: fp16 is as large, and fp32 as large as bf16 of twice the width. It is read for the next
    width that it has. Where it refuses all, those that spill least come first; where it has no such width, the
    smallest tiles, which are last in `configs`.
    """
    rows = [row for row in table() if row["kernel"] == kernel and row["descriptors"] == descriptors]
    needed = width * 2 if dtype == torch.float32 else width
    wider = min((row["width"] for row in rows if row["width"] >= needed), default=None)
    if wider is None:
        return tuple(reversed(configs))
    worst: dict[Config, float] = {}
    for row in rows:
        if row["width"] == wider and not row["fits"]:
            config = Config(**row["config"])
            # A message means that it cannot run there at all; without one it only spills.
            worst[config] = max(worst.get(config, 0), math.inf if row["message"] else row["spill_bytes"])
    fit = tuple(each for each in configs if each not in worst)
    return fit or tuple(sorted(configs, key=worst.__getitem__))


@lru_cache(maxsize=1)
def table() -> tuple[dict[str, Any], ...]:
    """The rows of `h100_configs.json`: kernel, dtype, width, causal, config, and what the compiler said."""
    return tuple(json.loads(TABLE_FILE.read_text())["rows"]) if TABLE_FILE.exists() else ()


def _time_all(kernel: str, configs: Sequence[Config], launch: Callable[[Config], None]) -> Config:
    """The config with the least median time; configs that this GPU has no room for are passed over."""
    times: dict[Config, float] = {}
    for each in configs:
        try:
            times[each] = triton.testing.do_bench(lambda each=each: launch(each), return_mode="median")
        except OutOfResources:
            continue
    if not times:
        raise RuntimeError(
            f"{kernel}: none of its {len(configs)} configs fits this GPU; add one with smaller tiles"
        )
    return min(times, key=times.__getitem__)
