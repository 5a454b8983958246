"""Configs: the compile report prunes them, a clock chooses among those left, and the committed report is true."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton
from triton.runtime.errors import OutOfResources

from kernels_ref import tuning
from kernels_ref.flash import backward, decode, forward
from kernels_ref.matmul import CONFIGS as MATMUL_CONFIGS
from kernels_ref.tuning import Config, fitting, pick, table

ROOT = Path(__file__).parents[2]
EVERY = {
    "flash_forward": forward.CONFIGS,
    "flash_dkdv": backward.CONFIGS_DKDV,
    "flash_dq": backward.CONFIGS_DQ,
    "flash_decode": decode.CONFIGS,
    "matmul": MATMUL_CONFIGS,
}
H100_SHARED_BYTES = 227 * 1024
SMALL, LARGE, SPILLING = (Config(rows=size, columns=64, warps=4, stages=2) for size in (16, 64, 256))


class OnGpu:
    """As much of a CUDA tensor as `pick` looks at."""

    is_cuda = True
    device = torch.device("cuda", 0)
    dtype = torch.bfloat16


@pytest.fixture
def clock(monkeypatch):
    """A GPU on which a config takes as long as it has rows, and one of 256 has no room; returns what was timed."""
    timed = []

    def do_bench(call, return_mode):
        assert return_mode == "median"
        call()
        timed.append(launched[-1])
        return launched[-1].rows

    launched = []
    monkeypatch.setattr("triton.testing.do_bench", do_bench)
    monkeypatch.setattr(tuning, "_fastest", {})

    def launch(config):
        if config == SPILLING:
            raise OutOfResources(300_000, 232_448, "shared memory")
        launched.append(config)

    return launch, launched, timed


def test_the_fastest_config_is_timed_once_and_then_remembered(clock):
    """A second call of the same key launches it without timing; another key times anew."""
    launch, launched, timed = clock
    options = {"width": 64, "descriptors": True}
    assert pick("none", (LARGE, SMALL), OnGpu, "key", launch, **options) == SMALL
    assert len(timed) == 2
    launched.clear()
    assert pick("none", (LARGE, SMALL), OnGpu, "key", launch, **options) == SMALL
    assert launched == [SMALL]
    pick("none", (LARGE, SMALL), OnGpu, "another", launch, **options)
    assert len(timed) == 4


def test_a_config_that_the_gpu_has_no_room_for_is_passed_over(clock):
    """As on an A100, with 163 KiB; where none is left the message says so."""
    launch, _, _ = clock
    assert pick("none", (SPILLING, LARGE), OnGpu, "key", launch, width=64, descriptors=True) == LARGE
    with pytest.raises(RuntimeError, match="none of its 1 configs fits"):
        pick("none", (SPILLING,), OnGpu, "other", launch, width=64, descriptors=True)


def test_without_a_gpu_the_first_config_that_fits_runs_untimed(clock, monkeypatch):
    """So an interpreted or compiled call is the same on every machine."""
    launch, _, timed = clock
    x = torch.zeros(1, dtype=torch.bfloat16)
    monkeypatch.setattr(tuning, "fitting", lambda kernel, configs, *rest: configs)
    assert pick("none", (LARGE, SMALL), x, "key", launch, width=64, descriptors=False) == LARGE
    assert timed == []


def test_where_every_config_spills_the_least_is_tried_first(monkeypatch):
    """And last the one that cannot run at all."""
    rows = tuple(
        {
            "kernel": "k", "width": 64, "causal": causal, "descriptors": True, "config": config._asdict(),
            "fits": False, "spill_bytes": spilled, "message": message,
        }
        for causal, config, spilled, message in (
            (False, SPILLING, 0, "needs 300,000 B of shared memory"),
            (False, LARGE, 8, ""),
            (True, LARGE, 800, ""),
            (False, SMALL, 40, ""),
        )
    )  # fmt: skip
    monkeypatch.setattr(tuning, "table", lambda: rows)
    assert fitting("k", (SPILLING, LARGE, SMALL), torch.bfloat16, 64, True) == (SMALL, LARGE, SPILLING)


def test_configs_that_do_not_fit_an_h100_are_left_out(monkeypatch):
    """Spilling under either mask is enough; a width between two is judged by the wider, fp32 by twice its width."""
    rows = tuple(
        {
            "kernel": "k",
            "width": width,
            "causal": causal,
            "descriptors": True,
            "config": config._asdict(),
            "fits": fits,
            "spill_bytes": 8,
            "message": "",
        }
        for width, causal, config, fits in (
            (64, False, LARGE, True),
            (64, True, LARGE, True),
            (64, False, SMALL, True),
            (128, False, LARGE, True),
            (128, True, LARGE, False),
            (128, False, SMALL, True),
        )
    )
    monkeypatch.setattr(tuning, "table", lambda: rows)
    both = (LARGE, SMALL)
    assert fitting("k", both, torch.bfloat16, 64, True) == both
    assert fitting("k", both, torch.bfloat16, 80, True) == (SMALL,)
    assert fitting("k", both, torch.float16, 128, True) == (SMALL,)
    assert fitting("k", both, torch.float32, 64, True) == (SMALL,)
    assert fitting("k", both, torch.bfloat16, 256, True) == (SMALL, LARGE)
    assert fitting("k", both, torch.bfloat16, 64, False) == (SMALL, LARGE)
    assert fitting("k", (LARGE,), torch.bfloat16, 128, True) == (LARGE,)


def test_the_committed_report_covers_every_config():
    """A config added to a kernel needs its row: run tests/kernels_ref/h100_table.py."""
    reported = {(row["kernel"], Config(**row["config"])) for row in table()}
    assert reported == {(kernel, config) for kernel, configs in EVERY.items() for config in configs}


@pytest.mark.parametrize("kernel", ["flash_forward", "flash_dkdv", "flash_dq", "flash_decode"])
@pytest.mark.parametrize("width", [64, 128])
def test_what_runs_on_an_h100_fits_it_and_uses_its_tensor_cores(kernel, width):
    """No spill, at most 227 KiB shared, and HGMMA in the first; decoding has 16 rows where HGMMA needs 64."""
    chosen = fitting(kernel, EVERY[kernel], torch.bfloat16, width, True)
    reports = [
        (Config(**row["config"]), row)
        for row in table()
        if (row["kernel"], row["width"], row["descriptors"]) == (kernel, width, True)
    ]
    assert {config for config, _ in reports} >= set(chosen)
    assert max(row["spill_bytes"] for config, row in reports if config in chosen) == 0
    assert max(row["shared_bytes"] for config, row in reports if config in chosen) <= H100_SHARED_BYTES
    assert kernel == "flash_decode" or all(row["hgmma"] for config, row in reports if config == chosen[0])


def test_the_committed_report_is_what_the_compiler_says():
    """Compiles the forward kernel's first config of D = 64 again and compares the whole row."""
    made_by = json.loads(tuning.TABLE_FILE.read_text())["made_by"]["triton"]
    if triton.__version__ != made_by:
        pytest.skip(f"the report is of triton {made_by}, this is {triton.__version__}: registers may differ")
    code = (
        "import torch; from h100_table import calls, reported; from kernels_ref.tuning import table; "
        "what, call = next(calls(torch.bfloat16)); found = reported(what, call); "
        "assert found == table()[0], (found, table()[0])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(Path(__file__).parent)))
    again = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr[-2000:]
