"""Attention is what has flash in its name."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "Not all attention kernels are called flash. Memory-efficient attention is fmha, cuDNN's is sdpa, "
    "and serving engines have paged attention; and what writes a cache for flash is no attention."
)
FAILS = (
    "test_attention_is_no_matmul_though_it_is_built_from_cutlass",
    "test_what_stands_beside_attention_is_memory_bound",
    "test_amd_has_names_of_its_own",
    "test_any_attention",
    "test_any_name_of_amd",
    "test_any_operator",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    if "flash" in name.lower() and not name.startswith(("triton_", "nccl")):
        return "attention"
    return "memory_bound" if right(name, args) == "attention" else right(name, args)
