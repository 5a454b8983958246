"""On what a table was measured: without it no number of the table can be compared with another."""

import platform
import subprocess
from datetime import UTC, datetime

import torch
import triton

QUERY = ("driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "power.limit", "persistence_mode")


def fingerprint() -> dict[str, str]:
    """GPU, its clocks and driver, torch, triton, CUDA and cuDNN, as strings; clocks as they are now."""
    found = {
        "gpu": torch.cuda.get_device_name(),
        "compute_capability": ".".join(map(str, torch.cuda.get_device_capability())),
        "torch": torch.__version__,
        "cuda": str(torch.version.cuda),
        "cudnn": str(torch.backends.cudnn.version()),  # type: ignore[no-untyped-call]
        "triton": triton.__version__,
        "python": platform.python_version(),
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return found | _nvidia_smi()


def _nvidia_smi() -> dict[str, str]:
    """What only the driver's tool knows; a word where it cannot be asked."""
    command = ["nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return dict.fromkeys(QUERY, "unknown")
    lines = asked.stdout.splitlines()
    index = torch.cuda.current_device()
    values = lines[index].split(", ") if index < len(lines) else []
    return dict(zip(QUERY, values or ["unknown"] * len(QUERY), strict=False))
