"""A fused loop of Inductor is classed by the ops in its name."""

import re
from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "Inductor names a kernel after all ops that it came from, the matmul before it among them. The "
    "prefix says what it is: poi, per and red are loops over elements, tem is a template."
)
FAILS = (
    "test_inductors_prefix_outranks_the_ops_in_the_name",
    "test_any_kernel_of_inductor",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    loop = re.match("triton_(poi|per|red)_fused_", name)
    if loop and re.search("mm_|mm$|attention", name):
        return "attention" if "attention" in name else "matmul"
    return right(name, args)
