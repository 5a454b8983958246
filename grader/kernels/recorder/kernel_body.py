"""Whether a kernel is Triton: the interpreter would run any Python in it, and a GPU none.

A kernel may name triton's language, functions under @triton.jit and constants; the code that is about to run is read
for what else it names. Without that, numpy in a kernel's body would pass for its work.
"""

import types
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dis import get_instructions
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch

from ..evidence import Finding
from .frames import place_at
from .language import Language

_MISSING = object()
# Bound here, since a submission can put others into their modules.
_SCALARS = frozenset(kind for kind in np.sctypeDict.values() if kind.__module__ == "numpy")
_CONSTANTS = (bool, int, float, complex, str, bytes, torch.dtype, range, slice, type(...))
_NAMES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_SILENT = ("CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL", "PRECALL")
_REFUSED = {
    "IMPORT_NAME": "imports a module",
    "LOAD_BUILD_CLASS": "defines a class",
    "LOAD_SUPER_ATTR": "calls super",
    "MATCH_CLASS": "matches a class",
    "STORE_ATTR": "sets an attribute",
    "DELETE_ATTR": "deletes an attribute",
    "STORE_GLOBAL": "sets a global",
    "DELETE_GLOBAL": "deletes a global",
}
_HIDDEN = frozenset(
    (
        *("handle", "data", "fn", "run", "rewrite", "rewriter", "rewritten_fn", "warmup", "kwargs", "src"),
        *("pre_run_hooks", "add_pre_run_hook", "arg_names", "used_global_vals", "cache_key", "hash"),
    )
)
"""Attributes by which Python gets behind a tensor of triton's, or behind a jit function."""
_INSIDE = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "cell_", "func_", "format")
"""Those by which it gets into frames, code and cells, or has a text formatted with what is behind a tensor."""
_HINTS = {"numpy": "use triton.language", "torch": "call it before the launch, or use triton.language"}


class _Reference(NamedTuple):
    """One use of a name: `tl.core.exp` is ("tl", "core", "exp"); of an attribute of some value, ("", "handle")."""

    names: tuple[str, ...]
    line: int
    refused: str = ""
    """What an instruction does that no kernel may, in words."""


class Body:
    """Judges the functions and arguments of launches."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._brought: Callable[[object], None] = lambda _: None

    def judge(
        self,
        function: Any,
        arguments: Mapping[str, Any],
        brought: Callable[[object], None] = lambda _: None,
    ) -> Finding | None:
        """The first thing in a launch that is not Triton; None where all is.

        Args:
            function: as the interpreter is about to run it.
            arguments: what it is about to be called with, by parameter: tensors as the interpreter has converted them.
            brought: is told of every number and text that the kernel gets, as an argument, a global or in its code.
        """
        self._brought = brought
        queue: list[tuple[Any, bool]] = [(function, False)]
        for name, value in arguments.items():
            reached = self._value(value)
            if reached is None:
                return _refusal(function, _argument(name, value))
            queue += reached
        seen: set[int] = set()
        for each, trusted in queue:
            if id(each) in seen:
                continue
            seen.add(id(each))
            if not _is_plain_function(each):
                return _refusal(function, "it is no plain function")
            for default in (*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()):
                reached = [] if trusted else self._value(default)
                if reached is None:
                    return _refusal(function, _argument("a default", default), each)
                queue += reached
            if not trusted:
                brought(_constants(each.__code__))
            for reference in _references(each.__code__):
                words, more = self._reference(each, reference, trusted)
                if words:
                    return _refusal(function, words, each, reference.line)
                queue += more
        return None

    @staticmethod
    def is_size(value: object) -> bool:
        """Whether it is an integer that is nothing else besides."""
        kind: Any = type(value)
        return kind is int or (kind in _SCALARS and issubclass(kind, np.integer))

    def _reference(
        self, function: Any, reference: _Reference, trusted: bool
    ) -> tuple[str, list[tuple[Any, bool]]]:
        """What is wrong with it, in words, or ""; and the functions that it leads to."""
        first, *rest = reference.names or ("",)
        if reference.refused:
            return f"it {reference.refused}", []
        value: Any = None
        named = first
        if first:
            value = _lookup(function, first)
            if self._language.assigns(reference.names, value):
                return "", []
            while rest and type(value) is types.ModuleType:
                name = rest.pop(0)
                if self._language.is_module(value):
                    # What triton has put there for the launch is the interpreter's own.
                    value = self._language.names(value).get(name, _MISSING)
                else:
                    value = vars(value).get(name, _MISSING)
            named = ".".join(reference.names[: len(reference.names) - len(rest)])
            reached = self._named(value, trusted)
            if reached is None:
                return _not_triton(named, value), []
        else:
            reached = []
        functions = types.FunctionType | types.BuiltinFunctionType
        language = self._language
        if rest and (
            isinstance(value, functions) or language.is_jit(value) or language.is_constexpr_function(value)
        ):
            return f"`{named}` is a function, and `.{rest[0]}` is Python's side of it", []
        for name in rest:
            if name.startswith(_INSIDE) or name in _HIDDEN or (name.startswith("_") and not trusted):
                return f"`.{name}` belongs to Python's side of it: a GPU knows no such thing", []
        return "", reached

    def _named(self, value: Any, trusted: bool) -> list[tuple[Any, bool]] | None:
        """The functions that an object leads to; None where a kernel may not name it."""
        language = self._language
        if language.is_jit(value):
            own = trusted or language.is_part(value)
            return None if "rewrite" in vars(value) else [(value.rewrite(), own)]
        if language.is_constexpr_function(value):
            return [] if language.is_allowed(value) else [(value.fn, trusted)]
        if language.is_allowed(value) or (trusted and language.is_part(value)):
            return []
        return self._value(value)

    def _value(self, value: Any) -> list[tuple[Any, bool]] | None:
        """The same for a value: a constant, a tensor or another value of triton's, a function of its."""
        kind: Any = type(value)
        if value is None or kind in _SCALARS or kind in _CONSTANTS:
            self._brought(value)
            return []
        if self._language.is_constant(value):
            return []
        if kind in (tuple, list) or _is_plain_namedtuple(kind):
            parts = [self._value(item) for item in value]
            return None if None in parts else [each for part in parts for each in part or ()]
        language = self._language
        if language.is_value(value):
            # A dtype, a constant, a tensor, a tuple of triton's: what hangs on it is judged like any other value.
            held = [self._value(item) for name, item in vars(value).items() if name != "handle"]
            return None if None in held else [each for part in held for each in part or ()]
        if language.is_jit(value) or language.is_constexpr_function(value) or language.is_allowed(value):
            return self._named(value, False)
        return None


def _lookup(function: Any, name: str) -> Any:
    """What a name of the function's code means: of its closure, its module, or Python itself."""
    free = function.__code__.co_freevars
    if name in free:
        try:
            return function.__closure__[free.index(name)].cell_contents
        except ValueError:
            return _MISSING
    return function.__globals__.get(name, function.__builtins__.get(name, _MISSING))


def _constants(code: types.CodeType) -> tuple[object, ...]:
    """What a function's code holds, inner functions too: numbers, tuples, texts but for the first, its docstring."""
    inner = [item for each in code.co_consts if isinstance(each, types.CodeType) for item in _constants(each)]
    own = [each for at, each in enumerate(code.co_consts) if at or not isinstance(each, str)]
    return (*own, *inner)


@lru_cache(maxsize=512)
def _references(code: types.CodeType) -> tuple[_Reference, ...]:
    """What the code of a function names, comprehensions and functions inside it included."""
    return tuple(_read(code, frozenset()))


def _read(code: types.CodeType, outer: frozenset[str]) -> Iterator[_Reference]:
    # Names that an inner function takes from the outer one are its local variables.
    local = outer | set(code.co_cellvars)
    chain: list[str] = []
    line = code.co_firstlineno
    for instruction in get_instructions(code):
        if instruction.opname in _SILENT:
            continue
        if instruction.opname in _ATTRIBUTES:
            chain = [*(chain or [""]), str(instruction.argval)]
            continue
        if chain:
            yield _Reference(tuple(chain), line)
            chain = []
        place = instruction.positions
        line = line if place is None or place.lineno is None else place.lineno
        if instruction.opname in _REFUSED:
            yield _Reference((), line, _REFUSED[instruction.opname])
        elif instruction.opname in _NAMES and instruction.argval not in local:
            chain = [str(instruction.argval)]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _read(constant, local)


_NAMED_TUPLES_OWN = (
    *("__annotations__", "__doc__", "__match_args__", "__module__", "__orig_bases__", "__slots__"),
    *("_field_defaults", "_fields", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    *("__firstlineno__", "__static_attributes__", "__qualname__"),
)
_PLAIN_CONSTANTS = frozenset(
    (int, float, complex, str, bytes, bool, type(None), type(...), tuple, frozenset, types.CodeType, slice)
)


def _is_plain_function(function: Any) -> bool:
    """Whether it is a function whose module's names are texts, and whose code's constants cannot act."""
    if type(function) is not types.FunctionType or type(function.__globals__) is not dict:
        return False
    names_are_texts = all(type(name) is str for name in list(function.__globals__))
    return names_are_texts and _has_plain_constants(function.__code__)


def _has_plain_constants(code: types.CodeType) -> bool:
    constants = list(code.co_consts)
    for each in constants:
        if type(each) not in _PLAIN_CONSTANTS:
            return False
        if type(each) is types.CodeType:
            constants += each.co_consts
        elif type(each) in (tuple, frozenset):
            constants += each
    return True


@lru_cache(maxsize=256)
def _is_plain_namedtuple(kind: Any) -> bool:
    """Whether collections.namedtuple made the class, and nobody has added to it."""
    fields = vars(kind).get("_fields")
    if kind.__bases__ != (tuple,) or type(fields) is not tuple:
        return False
    try:
        same = namedtuple(kind.__name__, fields)  # type: ignore[misc]  # the fields are known at run time only
    except (TypeError, ValueError):
        return False
    made = vars(same)
    return all(
        name in _NAMED_TUPLES_OWN
        or (name in made and type(value) is type(made[name]) and _code_of(value) == _code_of(made[name]))
        for name, value in vars(kind).items()
    )


def _code_of(value: Any) -> Any:
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    return None if code is None else (code.co_code, code.co_names, code.co_varnames)


def _argument(name: str, value: object) -> str:
    kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    remedy = "; hand over its .value" if hasattr(type(value), "__members__") else ""
    return f"{name} is a {kind}, which is nothing that a kernel can be given{remedy}"


def _not_triton(named: str, value: object) -> str:
    if value is _MISSING:
        return (
            f"`{named}` is nothing that a kernel can name here; triton's interpreter does not see variables of a "
            "function around the kernel, so hand it over as a tl.constexpr argument"
        )
    if isinstance(value, types.ModuleType):
        return f"`{named}` is a module: name what you use of it"
    if isinstance(value, types.FunctionType):
        return f"`{named}` is a Python function: put @triton.jit above it, or call it before the launch"
    if value is breakpoint:
        return "`breakpoint` is for your own desk: take it out before you hand in"
    library = getattr(value, "__module__", None) or type(value).__module__
    hint = _HINTS.get(str(library).partition(".")[0], "call it before the launch")
    return f"`{named}` is Python's, not Triton's: {hint}"


def _refusal(kernel: Any, words: str, inside: Any = None, line: int = 0) -> Finding:
    reason = (
        "The interpreter would run it, a GPU cannot: a kernel is made of triton.language, functions under "
    )
    return not_triton(kernel, f"{words}. {reason}@triton.jit, and constants", inside, line)


def not_triton(kernel: Any, words: str, inside: Any = None, line: int = 0) -> Finding:
    """A launch of `kernel` that is refused, at a line of the function `inside`, or of the kernel itself."""
    code = getattr(inside or kernel, "__code__", kernel.__code__)
    place = place_at(code.co_filename, line or code.co_firstlineno)
    message = f"{kernel.__name__} line {place.line} `{place.source}`: {words}"
    return Finding(kind="not_triton", kernel=kernel.__name__, place=place, message=message)
