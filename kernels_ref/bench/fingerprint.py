"""On what a table was measured: without it no number of the table can be compared with another."""

import platform
import subprocess
from datetime import UTC, datetime

import torch
import triton

from specs.gpu import Gpu, gpu

QUERY = ("driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "power.limit", "persistence_mode")

GPU_NAMES = {
    "NVIDIA H100 80GB HBM3": "h100-sxm",
    "NVIDIA H100 PCIe": "h100-pcie",
    "NVIDIA H100 NVL": "h100-nvl",
    "NVIDIA H200": "h200-sxm",
    "NVIDIA B200": "b200-sxm",
    "NVIDIA A100-SXM4-40GB": "a100-sxm-40gb",
    "NVIDIA A100-SXM4-80GB": "a100-sxm-80gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "NVIDIA L4": "l4",
    "NVIDIA L40S": "l40s",
    "NVIDIA GeForce RTX 3090": "rtx-3090",
    "NVIDIA GeForce RTX 4090": "rtx-4090",
    "NVIDIA GeForce RTX 5090": "rtx-5090",
}
"""What drivers call the GPUs of specs."""


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


def known_gpu(name: str) -> Gpu | None:
    """The GPU of specs that a driver's name means; None for all others: their speed of light is left out."""
    return gpu(GPU_NAMES[name]) if name in GPU_NAMES else None
