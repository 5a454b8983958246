"""Only a kernel with nccl in its name communicates."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "NCCL is one library among many. DeepEP, vLLM, MSCCL, NVSHMEM and symmetric memory move data "
    "between GPUs by kernels of their own names: a tool that looks for nccl alone reports such a run "
    "as all compute."
)
FAILS = (
    "test_communication_is_more_than_nccl",
    "test_any_communication",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    kind = right(name, args)
    known = "nccl" in name.lower() or name.startswith(("gloo", "Memcpy")) or "Collective name" in (args or {})
    return kind if kind != "communication" or known else "memory_bound"
