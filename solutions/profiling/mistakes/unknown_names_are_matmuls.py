"""What no rule knows is taken for a matmul."""

import re
from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "A name that says nothing is memory_bound: there are thousands of such kernels, and matmuls have "
    "few makers."
)
FAILS = (
    "test_communication_is_more_than_nccl",
    "test_a_collective_is_known_by_its_args_too",
    "test_any_matmul",
    "test_any_name_with_a_collectives_args",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    kind = right(name, args)
    known = re.search("softmax|reduce|gather|copy|norm|^triton|^aten|cache|rotary|add", name, re.IGNORECASE)
    return "matmul" if kind == "memory_bound" and not known else kind
