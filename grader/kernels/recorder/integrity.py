"""Remembers what the recorder's own functions are, so that a replaced one is noticed."""

from types import FunctionType, ModuleType
from typing import Any

_remembered: list[tuple[Any, str, Any, Any]] = []


def remember(modules: list[ModuleType]) -> None:
    """Take note of every function and class of these modules, methods and their code included."""
    for module in modules:
        for name, value in list(vars(module).items()):
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if isinstance(value, type):
                _remembered.append((module, name, value, None))
                for method, function in list(vars(value).items()):
                    _remembered.append((value, method, function, getattr(function, "__code__", None)))
            elif isinstance(value, FunctionType):
                _remembered.append((module, name, value, value.__code__))


def changed() -> bool:
    """Whether any of them is another now."""
    return any(
        vars(owner).get(name) is not value or getattr(value, "__code__", None) is not code
        for owner, name, value, code in _remembered
    )
