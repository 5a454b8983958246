"""Whatever reduces is taken for a collective."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "Most kernels with reduce in their name sum up a tensor on one GPU. A collective's name says "
    "more: all-reduce, reduce-scatter, cross-device."
)
FAILS = (
    "test_the_sum_over_the_parts_of_a_split_matmul_is_matmul",
    "test_reducing_and_gathering_on_one_gpu_is_no_communication",
    "test_any_sum_over_a_split_matmul",
    "test_any_communication",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return (
        "communication"
        if "reduce" in name.lower() and right(name, args) == "memory_bound"
        else right(name, args)
    )
