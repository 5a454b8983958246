"""Operators of the CPU have no class."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "A trace without a device has operators where others have kernels: aten::addmm and aten::bmm are "
    "matmuls, aten::_scaled_dot_product_... is attention."
)
FAILS = (
    "test_operators_of_the_cpu_have_a_class_too",
    "test_any_operator",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "memory_bound" if name.startswith("aten::") else right(name, args)
