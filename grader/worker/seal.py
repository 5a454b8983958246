"""Notices that a submission changed a probe, which measures it: sealed before its code runs, compared afterwards.

Code in the same process can get around this too. So what a probe measured decides nothing alone.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

from . import probes

_Names = dict[str, tuple[object, CodeType | None]]


@dataclass(frozen=True)
class SealedProbe:
    """A probe as it was before the submission's code ran."""

    run: Callable[..., Any]
    """The probe itself: this one, whatever becomes of its module."""
    module: ModuleType
    was_planted: bool
    """Whether a module of that name was there before anybody asked for the probe."""
    names: tuple[tuple[object, _Names], ...]
    """What the names of the module, and of each class in it, stood for."""

    def changed(self) -> bool:
        """Whether a name in the probe stands for something else by now, or for a function with other code."""
        if self.was_planted or sys.modules.get(self.module.__name__) is not self.module:
            return True
        return any(_differ(_names(owner), names) for owner, names in self.names)


def seal(name: str) -> SealedProbe:
    """Import the probe called `name` and remember what it is made of."""
    was_planted = f"{probes.__name__}.{name}" in sys.modules
    run = probes.probe(name)
    module = sys.modules[f"{probes.__name__}.{name}"]
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    return SealedProbe(
        run, module, was_planted, tuple((owner, _names(owner)) for owner in (module, *classes))
    )


def _names(owner: object) -> _Names:
    # Python itself writes some of the names with two underscores, __warningregistry__ say, as it goes.
    return {
        name: (value, value.__code__ if type(value) is FunctionType else None)
        for name, value in vars(owner).items()
        if not name.startswith("__") or name in ("__init__", "__call__")
    }


def _differ(now: _Names, before: _Names) -> bool:
    """Whether the names are others or stand for other objects: which of them are equal is not asked."""
    return now.keys() != before.keys() or any(
        now[name][0] is not value or now[name][1] is not code for name, (value, code) in before.items()
    )
