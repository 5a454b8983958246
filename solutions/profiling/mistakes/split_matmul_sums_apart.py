"""The sum over the parts of a split matmul is taken for a reduction of its own."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "cuBLAS splits a matmul with few tiles over k, and splitKreduce adds up the parts. It is the "
    "second half of that matmul: no fusing would do away with it."
)
FAILS = (
    "test_the_sum_over_the_parts_of_a_split_matmul_is_matmul",
    "test_any_sum_over_a_split_matmul",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "memory_bound" if "splitkreduce" in name.lower() else right(name, args)
