"""Notices that a submission changed what measures it: sealed before its code runs, compared afterwards.

Code in the same process can get around this too. So what was measured there decides nothing alone.
"""

import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from . import probes

_Names = dict[str, tuple[object, CodeType | None]]
_Owners = tuple[tuple[object, _Names], ...]


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
    return SealedProbe(run, module, was_planted, _owners(module))


@dataclass(frozen=True)
class SealedPackage:
    """Modules of a package as they were before the submission's code ran."""

    modules: tuple[tuple[str, ModuleType, _Owners], ...]
    names: Callable[[object], _Names]
    """How names are listed: this function, whatever this module's name for it stands for by now."""
    replaced: Callable[[object, _Names, _Names], bool]

    def changed(self) -> bool:
        """Whether a module, or a function, class or constant of one, stands for something else by now."""
        return any(
            sys.modules.get(name) is not module
            or any(self.replaced(owner, self.names(owner), before) for owner, before in owners)
            for name, module, owners in self.modules
        )


LIBRARIES = ("json", "json.decoder", "json.encoder", "pydantic.main", "socket", "struct")
"""What writes and sends the evidence, and is no part of the kit."""


def seal_package(package: str) -> SealedPackage:
    """Remember what all modules of `package` that are imported by now are made of, and those of LIBRARIES.

    What they rebind as they work is left out: names of None, True and False, and names that come later.
    """
    parts = tuple(
        (name, module, _owners(module))
        for name, module in list(sys.modules.items())
        if name == package or name.startswith(f"{package}.") or name in LIBRARIES
    )
    return SealedPackage(parts, _names, _replaced)


_FIXED = (FunctionType, BuiltinFunctionType, type, ModuleType, tuple, frozenset, str, int, float)


def _replaced(owner: object, now: _Names, before: _Names) -> bool:
    """Whether a fixed name stands for another object, or a new one in front of a builtin or an inherited one."""
    new = now.keys() - before.keys()
    if (new and isinstance(owner, type)) or any(name in vars(builtins) for name in new):
        return True
    for name, (value, code) in before.items():
        if (isinstance(value, _FIXED) and not isinstance(value, bool)) or name in _OF_A_MODEL:
            found = now.get(name)
            if found is None or found[0] is not value or found[1] is not code:
                return True
    return False


_OF_A_MODEL = ("__pydantic_serializer__", "__pydantic_validator__")
"""What dumps and checks a model: pydantic takes it from the class."""


def _owners(module: ModuleType) -> _Owners:
    """The module and the classes that it defines, each with its names."""
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    return tuple((owner, _names(owner)) for owner in (module, *classes))


def _names(owner: object) -> _Names:
    # Python itself writes some of the names with two underscores, __warningregistry__ say, as it goes.
    return {
        name: (value, value.__code__ if type(value) is FunctionType else None)
        for name, value in vars(owner).items()
        if not name.startswith("__") or name in ("__init__", "__call__", *_OF_A_MODEL)
    }


def _differ(now: _Names, before: _Names) -> bool:
    """Whether the names are others or stand for other objects: which of them are equal is not asked."""
    return now.keys() != before.keys() or any(
        now[name][0] is not value or now[name][1] is not code for name, (value, code) in before.items()
    )
