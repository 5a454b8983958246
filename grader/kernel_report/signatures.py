"""What to call an unknown function with: the common signatures of Triton wrappers, and the shapes a user names."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Small enough for the interpreter (a fraction of a second), large enough for several tiles and a causal diagonal.
_HEADS, _TOKENS, _WIDTH = 2, 256, 64
_ROWS, _COLUMNS, _INNER = 256, 512, 128
_VECTOR = 4096 + 100  # no multiple of a block: a missing mask shows

DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}

Shape = tuple[int, ...]


class CannotGuess(ValueError):
    """No common signature fits; the text says which options name the inputs."""


@dataclass(frozen=True)
class Inputs:
    """Arguments as plain data: a child process makes the tensors."""

    shapes: Mapping[str, Shape]
    """Tensor arguments, N(0, 1) in the dtype asked for."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Numbers, booleans and texts."""
    assumed: str = ""
    """What was not said by the user, for the report; "" where everything was."""


@dataclass(frozen=True)
class _Family:
    """One common signature: the leading parameters' names, in any of their usual spellings, and shapes to try."""

    name: str
    leading: tuple[frozenset[str], ...]
    shapes: tuple[tuple[Shape, ...], ...]
    """Alternatives, each with one shape for each leading parameter."""


def _names(*spellings: str) -> frozenset[str]:
    return frozenset(spellings)


_X = _names("x", "inp", "input", "inputs", "a", "logits", "scores", "src", "hidden_states", "tensor", "t")
_Q, _K, _V = _names("q", "query", "queries"), _names("k", "key", "keys"), _names("v", "value", "values")
_W = _names("weight", "w", "gamma", "g", "scale_weight")
_BIAS = _names("bias", "beta", "b")
_Y = _names("y", "other", "b", "residual")

_FAMILIES = (
    _Family(
        "attention",
        (_Q, _K, _V),
        (((_HEADS, _TOKENS, _WIDTH),) * 3, ((1, _HEADS, _TOKENS, _WIDTH),) * 3, ((_TOKENS, _WIDTH),) * 3),
    ),
    _Family("norm with weight and bias", (_X, _W, _BIAS), (((_ROWS, _COLUMNS), (_COLUMNS,), (_COLUMNS,)),)),
    _Family(
        "matmul",
        (_names("a", "lhs", "x"), _names("b", "rhs", "w")),
        (((_ROWS, _INNER), (_INNER, _COLUMNS)), ((_VECTOR,), (_VECTOR,)), ((_ROWS, _COLUMNS),) * 2),
    ),
    _Family("norm with weight", (_X, _W), (((_ROWS, _COLUMNS), (_COLUMNS,)),)),
    _Family("elementwise of two", (_X, _Y), (((_VECTOR,), (_VECTOR,)), ((_ROWS, _COLUMNS),) * 2)),
    _Family("rows", (_X,), (((_ROWS, _COLUMNS),), ((_VECTOR,),), ((_HEADS, _ROWS, _COLUMNS),))),
)


def parse_shape(text: str) -> tuple[str, Shape]:
    """`q=2,256,64` to ("q", (2, 256, 64)); `256,64` or `256x64` to ("", (256, 64)).

    Raises:
        ValueError: not numbers, or none; the message shows the form.
    """
    name, equals, sizes = text.rpartition("=")
    try:
        shape = tuple(int(size) for size in sizes.replace("x", ",").strip("() ,").split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 1 or (equals and not name.strip().isidentifier()):
        raise ValueError(f"--shape {text}: give sizes such as 256,512 or a name and sizes, q=2,256,64")
    return name.strip(), shape


def parse_argument(text: str) -> tuple[str, Any]:
    """`causal=True` to ("causal", True); the value is a Python literal, else a text.

    Raises:
        ValueError: no name, or no `=`.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise ValueError(f"--arg {text}: give a name and a value, causal=True")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def candidates(
    function: Callable[..., Any], shapes: Sequence[tuple[str, Shape]], others: Mapping[str, Any]
) -> list[Inputs]:
    """Inputs to try in order: one where the user named everything, several where it is guessed.

    Args:
        function: the function, or an autograd Function's `apply`-like callable with a readable signature.
        shapes: from `parse_shape`; unnamed ones go to the tensor parameters in order, the last one to the rest.
        others: from `parse_argument`.

    Raises:
        CannotGuess: no common signature fits and not all was named.
    """
    parameters = _positional(function)
    known = {name for name, _ in parameters}
    for name in [*(name for name, _ in shapes if name), *others]:
        if name not in known and not _takes_any_keyword(function):
            raise CannotGuess(
                f"{_named(function)} has no parameter {name}: it has {', '.join(known) or 'none'}"
            )
    named = {name: shape for name, shape in shapes if name}
    unnamed = [shape for name, shape in shapes if not name]
    needed = [name for name, required in parameters if required and name not in others and name not in named]
    if not needed:
        return (
            [Inputs(named, others)] if named or not unnamed else _spread(parameters, unnamed, others, named)
        )
    family = _family([name for name, _ in parameters if name not in others])
    if unnamed:
        return _spread(parameters, unnamed, others, named)
    if family is None or len(needed) > len(family.leading) or named:
        raise CannotGuess(
            f"cannot guess {', '.join(needed)} of {_named(function)}: name each tensor with --shape "
            f"{needed[0]}=256,512 and each other value with --arg {needed[-1]}=1"
        )
    names = [name for name, _ in parameters if name not in others][: len(family.leading)]
    return [
        Inputs(
            dict(zip(names, alternative, strict=True)),
            others,
            assumed=f"{', '.join(names)} as of {family.name}",
        )
        for alternative in family.shapes
    ]


def _spread(
    parameters: Sequence[tuple[str, bool]],
    unnamed: Sequence[Shape],
    others: Mapping[str, Any],
    named: Mapping[str, Shape],
) -> list[Inputs]:
    """Unnamed shapes in the parameters' order; parameters that are left over take the last one."""
    free = [name for name, required in parameters if name not in others and name not in named and required]
    if not free:
        free = [name for name, _ in parameters if name not in others and name not in named][: len(unnamed)]
    if len(unnamed) > len(free):
        raise CannotGuess(f"{len(unnamed)} shapes for {len(free)} parameters ({', '.join(free) or 'none'})")
    family = _family([name for name, _ in parameters if name not in others])
    given = list(unnamed)
    if len(given) == 1 and family is not None and family.name.startswith("norm"):
        given += [given[0][-1:]] * (len(free) - 1)
    given += [given[-1]] * (len(free) - len(given))
    said = "" if len(unnamed) == len(free) else f"{', '.join(free[len(unnamed) :])} like the last shape given"
    return [Inputs({**named, **dict(zip(free, given, strict=True))}, others, assumed=said)]


def _family(names: Sequence[str]) -> _Family | None:
    lowered = [name.lower() for name in names]
    for family in _FAMILIES:
        if len(lowered) >= len(family.leading) and all(
            name in spellings for name, spellings in zip(lowered, family.leading, strict=False)
        ):
            return family
    return None


def _positional(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """(name, whether it must be given) of each parameter that can be passed by name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        (parameter.name, parameter.default is inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in kinds
    ]


def _takes_any_keyword(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _named(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", "the function"))
