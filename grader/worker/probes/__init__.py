"""Trusted probes: each runs a student's function on things that cannot cross the wire and reports plain values.

What a probe measures was measured beside the student's code, so a check that rests on it says so.
"""

import importlib
from collections.abc import Callable
from typing import Any


def probe(name: str) -> Callable[..., Any]:
    """The `run(function, *args, **kwargs)` of the probe module called `name`."""
    if not name.isidentifier():
        raise ValueError(f"probe {name!r}: not a module name")
    run: Callable[..., Any] = importlib.import_module(f"{__name__}.{name}").run
    return run
