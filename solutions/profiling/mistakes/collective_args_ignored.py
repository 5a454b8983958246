"""The args of an event are not looked at."""

from collections.abc import Mapping
from typing import Any

from ..kernels import classify_kernel as right

EXERCISE = "classify_kernel"
HINT = (
    "A name need not say that a kernel communicates. The profiler writes a Collective name into the "
    "args of every collective that it records: look there first."
)
FAILS = (
    "test_a_collective_is_known_by_its_args_too",
    "test_any_name_with_a_collectives_args",
)


def classify_kernel(name: str, args: Mapping[str, Any] | None = None) -> str:
    return right(name)
