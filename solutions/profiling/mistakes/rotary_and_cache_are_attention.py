"""What prepares queries, keys and values is taken for attention."""

import re
from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "Rotating queries and keys, and writing keys and values into the cache, touches each element "
    "once: it is memory-bound, and it can be fused."
)
FAILS = (
    "test_what_stands_beside_attention_is_memory_bound",
    "test_any_attention",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return "attention" if re.search("rotary|_and_cache", name) else right(name, args)
