"""Triton as it was before a student's code ran: what a kernel may name of it, and whether anybody has changed it.

The interpreter runs a kernel as Python, by functions of triton's that Python can replace: a tl.exp of one's own,
another method of the builder. Each launch begins by a look at whether all are what they were.
"""

import builtins
import importlib
import math
import sys
from collections.abc import Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ..interpreter import patches
from .alone import OFFICIAL

_LANGUAGE = "triton.language"
_EXTRA = _LANGUAGE + ".extra"
_INTERPRETER = "triton.runtime.interpreter"
_BENEATH = ("numpy", "numpy.linalg", "math", "inspect", "dis", "gc", "signal")
"""Modules that the interpreter and the recorder compute with."""
_TOP = ("cdiv", "next_power_of_2")
"""What kernels use of the package itself."""

_BUILTINS = frozenset(
    (
        *("abs", "bool", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min", "print"),
        *("range", "reversed", "round", "slice", "str", "sum", "tuple", "zip"),
    )
)
"""Those of Python's that do nothing to a tensor but by triton's own operators."""


class Language:
    """One process's triton. Made when the interpreter has been mended, before any code of a student's."""

    def __init__(self) -> None:
        self._interpreter = importlib.import_module(_INTERPRETER)
        self._file = self._interpreter.__file__
        self._jit = importlib.import_module("triton.runtime.jit")
        modules = [
            module
            for name, module in list(sys.modules.items())
            if type(module) is ModuleType and (name == _LANGUAGE or name.startswith(_LANGUAGE + "."))
        ]
        self._spaces: dict[int, dict[str, Any]] = {id(module): dict(vars(module)) for module in modules}
        self._modules = modules
        self._patched: list[tuple[Any, dict[str, Any]]] = []
        self._watch_patching()
        self._remembered = list(self._parts([*modules, self._interpreter], own=True))
        self._remembered += self._parts([importlib.import_module(name) for name in _BENEATH], own=False)
        native = importlib.import_module("triton._C.libtriton").interpreter
        self._remembered += self._parts([native], own=False)
        self._functions: dict[int, tuple[Any, tuple[Any, ...]]] = {}
        for _, _, value in self._remembered:
            self._remember_function(value)
        self._parts_of_language = {
            id(value) for module in modules for value in vars(module).values() if not _is_plain(value)
        }
        classes = [value for module in modules for value in vars(module).values() if _is_own_class(value)]
        inner = [each for kind in classes for each in vars(kind).values() if _is_own_class(each)]
        self._types, self._inner_types = frozenset(map(id, classes)), frozenset(map(id, inner))
        self._allowed: frozenset[int] | set[int] = {
            id(vars(importlib.import_module("triton"))[name]) for name in _TOP
        }
        for module in modules:
            self._allowed |= {
                id(value) for name, value in vars(module).items() if self._is_public(module, name, value)
            }
        self._allowed |= {id(value) for name, value in vars(math).items() if not name.startswith("_")}
        self._allowed |= {id(vars(builtins)[name]) for name in _BUILTINS}
        if not OFFICIAL:
            self._allowed |= {
                id(breakpoint)
            }  # at a student's own desk: it calls what sys.breakpointhook holds
        self._allowed |= {id(value) for value in vars(builtins).values() if _is_error(value)}
        self._allowed = frozenset(self._allowed)

    def _is_public(self, module: ModuleType, name: str, value: Any) -> bool:
        """Whether a kernel may name it: an operation, a type, a jit function of triton's, a function of libdevice."""
        if name.startswith("_"):
            return False
        operation = getattr(value, "__triton_builtin__", False) is True
        device = module.__name__.startswith(_EXTRA) and isinstance(value, FunctionType)
        jit = self.is_jit(value) or self.is_constexpr_function(value)
        return operation or device or jit or _is_type(value)

    def is_module(self, value: object) -> bool:
        """Whether it is triton.language or a module of it."""
        return any(value is module for module in self._modules)

    def names(self, module: object) -> dict[str, Any]:
        """What such a module held before a student's code ran."""
        return self._spaces[id(module)]

    def is_allowed(self, value: object) -> bool:
        """Whether a kernel may name this object of triton's or Python's."""
        return id(value) in self._allowed

    def is_part(self, value: object) -> bool:
        """Whether it is any object of triton.language, as its own functions name them."""
        return id(value) in self._parts_of_language or self.is_allowed(value)

    def is_jit(self, value: object) -> bool:
        """Whether it is a function under @triton.jit, and nothing that only looks so."""
        return type(value) is self._interpreter.InterpretedFunction

    def is_constexpr_function(self, value: object) -> bool:
        """Whether it is a function under @triton.constexpr_function."""
        return type(value) is self._jit.ConstexprFunction

    def is_constant(self, value: object) -> bool:
        """Whether it is one of the constants that the language's types hold, such as a sign."""
        return id(type(value)) in self._inner_types

    def is_value(self, value: object) -> bool:
        """Whether it is an instance of a class of triton's language, as kernels have them."""
        return id(type(value)) in self._types

    def assigns(self, names: tuple[str, ...], value: object) -> bool:
        """Whether it is the call that the interpreter puts around the value of each assignment."""
        return (
            names == ("interpreter_semantic", "to_tensor") and value is self._interpreter.interpreter_semantic
        )

    def changed(self) -> bool:
        """Whether a function, class or jit function of triton's language or interpreter is another now.

        To be asked outside of launches: inside, triton puts the interpreter's functions into its language itself.
        """
        if any(_held(owner).get(name) is not value for owner, name, value in self._remembered):
            return True
        return any(_inside(function) != inside for function, inside in self._functions.values())

    def changed_in_launch(self) -> bool:
        """The same inside of a launch, since triton put the interpreter's functions in."""
        return any(
            vars(owner).get(name) is not value
            for owner, held in self._patched
            for name, value in held.items()
        )

    def runs_programs(self, frame: FrameType) -> bool:
        """Whether it is the frame in which triton calls a kernel once for each program."""
        code = frame.f_code
        return (
            code.co_name == "__call__" and code.co_filename == self._file and "args_hst" in code.co_varnames
        )

    def _parts(self, modules: list[ModuleType], own: bool) -> Iterator[tuple[Any, str, Any]]:
        """What could be replaced: (owner, name, value); with `own` in classes and objects of the modules too."""
        for module in modules:
            for name, value in list(vars(module).items()):
                if _is_plain(value) or (not own and not callable(value)):
                    continue
                yield module, name, value
                ours = isinstance(value, type) and value.__module__ == module.__name__
                if own and (ours or not isinstance(value, type | ModuleType | FunctionType)):
                    held = list(_held(value).items())
                    yield from ((value, inner, each) for inner, each in held if not _is_plain(each))

    def _remember_function(self, value: Any) -> None:
        """Take note of a function's code, defaults and cells, and of the functions in its cells."""
        function = getattr(value, "__func__", value)
        if type(function) is FunctionType and id(function) not in self._functions:
            self._functions[id(function)] = function, _inside(function)
            for cell in function.__closure__ or ():
                self._remember_function(_contents(cell))

    def _watch_patching(self) -> None:
        language = importlib.import_module(_LANGUAGE)
        owners = (
            language,
            language.core,
            language.math,
            language.tensor,
            language.core.tensor_descriptor_base,
        )

        def _patch_lang(function: Any) -> Any:
            scope = plain(function)
            self._patched = [(owner, dict(vars(owner))) for owner in owners]
            return scope

        plain = patches.replace(self._interpreter, "_patch_lang", _patch_lang)


def _held(owner: Any) -> Any:
    """Its attributes; none of an object that has lost them."""
    return getattr(owner, "__dict__", {})


def _inside(function: Any) -> tuple[Any, ...]:
    """What makes a function do what it does, by identity."""
    cells = tuple(id(_contents(cell)) for cell in function.__closure__ or ())
    return id(function.__code__), id(function.__defaults__), id(function.__kwdefaults__), cells


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty as yet
        return None


def _is_plain(value: Any) -> bool:
    """Whether it is data that cannot act: a number, a text, a table."""
    return value is None or type(value) in (bool, int, float, str, bytes, list, dict, set, frozenset, tuple)


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _is_own_class(value: Any) -> bool:
    return isinstance(value, type) and value.__module__.startswith(_LANGUAGE)


def _is_type(value: Any) -> bool:
    return _is_own_class(value) or type(value).__name__ in ("dtype", "pointer_type")
