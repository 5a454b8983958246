"""Whatever has copy in its name is a copy."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "A copy, here, is work of the copy engine: Memcpy and Memset. A kernel that copies occupies the "
    "cores and their bandwidth; it can be fused away, so it is memory-bound."
)
FAILS = (
    "test_copies_are_memcpy_and_memset_alone",
    "test_operators_of_the_cpu_have_a_class_too",
    "test_any_copy",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "copy" if "copy" in name.lower() else right(name, args)
