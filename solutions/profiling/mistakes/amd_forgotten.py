"""Names of AMD's libraries are not known."""

import re
from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "On AMD, Tensile's matmuls are called Cijk_ and so on, after their indices, and composable "
    "kernel's attention is a FmhaFwdKernel in CamelCase."
)
FAILS = (
    "test_amd_has_names_of_its_own",
    "test_any_name_of_amd",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "memory_bound" if re.match("Cijk_|.*Fmha", name) else right(name, args)
