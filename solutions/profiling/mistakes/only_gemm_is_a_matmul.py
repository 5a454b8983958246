"""A matmul is what has gemm in its name."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "A matmul need not be called gemm. cuBLAS on Hopper has nvjet, cuDNN has fprop, dgrad and wgrad, "
    "a matrix times a vector is a gemv, Triton has mm."
)
FAILS = (
    "test_matmuls_have_many_names",
    "test_inductors_prefix_outranks_the_ops_in_the_name",
    "test_any_matmul",
    "test_any_kernel_of_inductor",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    known = "gemm" in name.lower() or name.startswith(("aten::", "Cijk_")) or "splitk" in name.lower()
    return "memory_bound" if right(name, args) == "matmul" and not known else right(name, args)
