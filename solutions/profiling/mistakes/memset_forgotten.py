"""A memory set is not taken for a copy."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = "A memory set is done as a copy is, by Memset: it has no kernel that could be fused."
FAILS = (
    "test_copies_are_memcpy_and_memset_alone",
    "test_any_copy",
    "test_any_name_of_amd",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "memory_bound" if name.startswith("Memset") else right(name, args)
