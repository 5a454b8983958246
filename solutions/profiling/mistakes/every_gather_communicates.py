"""Whatever gathers or scatters is taken for a collective."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "Indexing is called gather and scatter too, and it stays in one GPU's memory. A collective is an "
    "all-gather or a reduce-scatter."
)
FAILS = (
    "test_reducing_and_gathering_on_one_gpu_is_no_communication",
    "test_any_communication",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    indexing = "gather" in name.lower() or "scatter" in name.lower()
    return "communication" if indexing else right(name, args)
