"""Only a kernel whose name begins with nccl communicates."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "A name that begins with nccl is NCCL's or RCCL's own kernel, and no other. MSCCL, DeepEP, vLLM, NVSHMEM and "
    "symmetric memory begin otherwise: search in the whole name, and for what each of them calls its kernels."
)
FAILS = (
    "test_communication_is_more_than_nccl",
    "test_any_communication",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    kind = right(name, args)
    known = name.startswith(("nccl", "gloo", "Memcpy")) or "Collective name" in (args or {})
    return kind if kind != "communication" or known else "memory_bound"
