"""Calls the student's function with the rank's arguments and the process group."""

from typing import Any


def run(student: Any, group: Any, *args: Any, **kwargs: Any) -> Any:
    """`student(*args, group=group, **kwargs)`."""
    return student(*args, group=group, **kwargs)
