"""Remembers what the recorder's own functions are, so that a replaced one is noticed."""

from types import FunctionType, ModuleType
from typing import Any

_DATA = (bool, int, float, str, bytes, tuple, list, dict, set, frozenset, type(None))
_remembered: list[tuple[Any, str, Any, Any]] = []


def remember(modules: list[ModuleType]) -> None:
    """Take note of every function, class and object of these modules, methods and their code included."""
    for module in modules:
        for name, value in list(vars(module).items()):
            if getattr(value, "__module__", None) != module.__name__:
                if not name.startswith("__") and not isinstance(value, _DATA):
                    _remembered.append((module, name, value, None))
            elif isinstance(value, type):
                _remembered.append((module, name, value, None))
                for method, function in list(vars(value).items()):
                    _remembered.append((value, method, function, getattr(function, "__code__", None)))
            elif isinstance(value, FunctionType):
                _remembered.append((module, name, value, value.__code__))


def changed() -> bool:
    """Whether any of them is another now."""
    return any(
        vars(owner).get(name) is not value
        or (code is not None and getattr(value, "__code__", None) is not code)
        for owner, name, value, code in _remembered
    )
