"""A softmax by itself is taken for attention."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "A softmax kernel reads its matrix and writes it: that is the memory-bound middle of naive "
    "attention, which flash attention does away with. A loss has one as well."
)
FAILS = (
    "test_what_stands_beside_attention_is_memory_bound",
    "test_any_matmul",
    "test_any_attention",
    "test_any_operator",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    alone = "softmax" in name.lower() and right(name, args) == "memory_bound"
    return "attention" if alone and not name.startswith("triton_") else right(name, args)
