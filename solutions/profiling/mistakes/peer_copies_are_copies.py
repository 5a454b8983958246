"""A copy from GPU to GPU is taken for an ordinary copy."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "PtoP is peer to peer: such a copy crosses a link between GPUs, as a collective does. Overlapping "
    "it helps as it helps a collective."
)
FAILS = (
    "test_copies_are_memcpy_and_memset_alone",
    "test_any_copy",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "copy" if name.startswith("Memcpy") else right(name, args)
