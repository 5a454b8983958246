"""CUTLASS and wgmma are looked for before attention is."""

import re
from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "Attention kernels are built from CUTLASS and say so in their template arguments: ask for "
    "attention first, and for matmul after it."
)
FAILS = (
    "test_attention_is_no_matmul_though_it_is_built_from_cutlass",
    "test_any_attention",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    matmul = re.search("gemm|cutlass|wgmma|cudnn|cublas|fprop|bprop", name, re.IGNORECASE)
    return "matmul" if matmul and right(name, args) == "attention" else right(name, args)
