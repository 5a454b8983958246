"""Calls the student's function, and returns its input beside its result: whether it changed, or shares memory."""

from typing import Any


def run(student: Any, group: Any, first: Any, *rest: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(`student(first, *rest, group=group, **kwargs)`, `first` afterwards)."""
    result = student(first, *rest, group=group, **kwargs)
    return result, first
