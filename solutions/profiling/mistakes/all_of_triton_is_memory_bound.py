"""Every kernel of Inductor is memory-bound."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "Inductor writes matmuls and attention in Triton too, from templates: their names begin with triton_tem."
)
FAILS = (
    "test_attention_is_no_matmul_though_it_is_built_from_cutlass",
    "test_inductors_prefix_outranks_the_ops_in_the_name",
    "test_any_matmul",
    "test_any_attention",
    "test_any_kernel_of_inductor",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "memory_bound" if name.startswith("triton_") else right(name, args)
