"""What to call an unknown function with: the common signatures of Triton wrappers, and the shapes a user names."""

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from grader.kernel_report import families
from grader.kernel_report.families import Shape, TensorOf

# Names of dtypes as the command takes them, and as torch has them.
DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
OTHER_DTYPES = {
    "int64": "int64",
    "int32": "int32",
    "int8": "int8",
    "uint8": "uint8",
    "bool": "bool",
    "fp64": "float64",
}


class CannotGuess(ValueError):
    """No common signature fits; the text says which options name the inputs."""


class Given(NamedTuple):
    """One `--shape`: `name` is "" where the user gave sizes alone."""

    name: str
    tensor: TensorOf


@dataclass(frozen=True)
class Inputs:
    """Arguments as plain data: a child process makes the tensors."""

    tensors: Mapping[str, TensorOf]
    """By parameter, N(0, 1); `args[0]` and so on for those that go into `*args`."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Numbers, booleans and texts."""
    assumed: str = ""
    """What was not said by the user, for the report; "" where everything was."""
    ragged: Mapping[str, TensorOf] = field(default_factory=dict)
    """The same with sizes that no tile divides, for a second look; empty where the user chose the sizes."""


class _Parameter(NamedTuple):
    name: str
    required: bool
    annotation: Any


def parse_shape(text: str) -> Given:
    """`q=2,256,64` or `ids=64:int64` by name; `256,64` or `256x64` without one.

    Raises:
        ValueError: not numbers, or none, or no such dtype; the message shows the form.
    """
    name, equals, sizes = text.rpartition("=")
    sizes, _, dtype = sizes.partition(":")
    try:
        shape = tuple(int(size) for size in sizes.replace("x", ",").strip("() ,").split(","))
    except ValueError:
        shape = ()
    named_well = name.strip().isidentifier() or re.fullmatch(r"args\[\d+\]", name.strip())
    if not shape or min(shape) < 1 or (equals and not named_well):
        raise ValueError(f"--shape {text}: give sizes such as 256,512 or a name and sizes, q=2,256,64")
    if dtype and dtype not in DTYPES | OTHER_DTYPES:
        raise ValueError(f"--shape {text}: no dtype {dtype}, it is {', '.join(DTYPES | OTHER_DTYPES)}")
    return Given(name.strip(), TensorOf(shape, dtype))


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
    function: Callable[..., Any], given: Sequence[Given], others: Mapping[str, Any]
) -> list[Inputs]:
    """Inputs to try in order: one where the user named everything, several where it is guessed.

    Args:
        function: the function, or something callable with a readable signature.
        given: from `parse_shape`; unnamed ones go to the tensor parameters in order, the last one to the rest.
        others: from `parse_argument`.

    Raises:
        CannotGuess: no common signature fits and not all was named.
    """
    parameters = _parameters(function)
    names = [parameter.name for parameter in parameters]
    for name in [*(each.name for each in given if each.name), *others]:
        if name not in names and not _takes_more(function, name):
            raise CannotGuess(
                f"{_named(function)} has no parameter {name}: it has {', '.join(names) or 'none'}"
            )
    free = [parameter for parameter in parameters if parameter.name not in others]
    named = {each.name: each.tensor for each in given if each.name}
    unnamed = [each.tensor for each in given if not each.name]
    if unnamed:
        return [_completed(function, _spread(function, free, unnamed, named), others, free)]
    needed = [each for each in free if each.required and each.name not in named]
    if named or not needed:
        # With nothing needed and nothing said, tensors that are optional stay out, as in any call f().
        return [_completed(function, Inputs(named), others, free)]
    guesses: list[Inputs] = []
    failed: CannotGuess | None = None
    fitting = list(families.matching([each.name for each in free], _named(function)))
    if not fitting and len(needed) == 1 and _scalar(needed[0], ()) is None:
        fitting = list(families.lone(needed[0].name))
    for family, leading in fitting:
        said = f"{', '.join(leading)} as in {family.name}"
        for tensors in family.tensors:
            guess = Inputs(dict(zip(leading, tensors, strict=True)), assumed=said)
            try:
                guesses.append(_completed(function, guess, others, free))
            except CannotGuess as error:  # a family that takes fewer parameters; the first says most
                failed = failed or error
    if not guesses:
        raise failed or _cannot(function, [each for each in needed if _scalar(each, ()) is None] or needed)
    return [
        replace(guess, ragged={name: families.ragged(tensor) for name, tensor in guess.tensors.items()})
        for guess in guesses
    ]


def _completed(
    function: Callable[..., Any], inputs: Inputs, others: Mapping[str, Any], free: Sequence[_Parameter]
) -> Inputs:
    """Required parameters that are still open, by their names: tensors that match the first one, usual numbers."""
    tensors, scalars = dict(inputs.tensors), {}
    first = next(iter(tensors.values()), TensorOf(()))
    matched, unknown = [], []
    for parameter in free:
        if not parameter.required or parameter.name in tensors:
            continue
        related = families.related(parameter.name, first.shape)
        scalar = _scalar(parameter, first.shape)
        if related is not None:
            tensors[parameter.name] = related
            matched.append(parameter.name)
        elif scalar is not None:
            scalars[parameter.name] = scalar
        else:
            unknown.append(parameter)
    if unknown:
        raise _cannot(function, unknown)
    said = [inputs.assumed] if inputs.assumed else []
    said += [f"{', '.join(matched)} to match"] if matched else []
    said += [f"{name}={value}" for name, value in scalars.items()]
    return Inputs(tensors, {**others, **scalars}, "; ".join(said))


def _cannot(function: Callable[..., Any], unknown: Sequence[_Parameter]) -> CannotGuess:
    names = [parameter.name for parameter in unknown]
    return CannotGuess(
        f"cannot guess {', '.join(names)} of {_named(function)}: give sizes for a tensor (--shape {names[0]}=256,512, "
        f"--shape {names[0]}=64:int64 for indices) and a value for anything else (--arg {names[-1]}=1)"
    )


def _spread(
    function: Callable[..., Any],
    free: Sequence[_Parameter],
    unnamed: Sequence[TensorOf],
    named: Mapping[str, TensorOf],
) -> Inputs:
    """Unnamed shapes in the parameters' order; tensors that are left over match the first, or take the last shape."""
    if not free and _takes_more(function, "args[0]"):
        return Inputs({**named, **{f"args[{at}]": tensor for at, tensor in enumerate(unnamed)}})
    tensors = [each for each in free if each.name not in named and _scalar(each, ()) is None]
    required = [each.name for each in tensors if each.required]
    names = required if len(required) >= len(unnamed) else [each.name for each in tensors][: len(unnamed)]
    if len(unnamed) > len(names):
        raise CannotGuess(f"{len(unnamed)} shapes for {len(names)} parameters ({', '.join(names) or 'none'})")
    given = dict(zip(names, unnamed, strict=False))
    likened = []
    for name in names[len(unnamed) :]:
        if families.related(name, unnamed[0].shape) is None or len(unnamed) > 1:
            given[name] = unnamed[-1]
            likened.append(name)
    said = f"{', '.join(likened)} like the last shape given" if likened else ""
    return Inputs({**named, **given}, assumed=said)


def _scalar(parameter: _Parameter, first: Shape) -> Any:
    """A usual value by the parameter's name, or its annotation; None where there is none."""
    if parameter.name.lower() in families.SCALES:
        return round((first[-1] if first else 1) ** -0.5, 6)
    if parameter.name.lower() in families.SCALARS:
        return families.SCALARS[parameter.name.lower()]
    return False if parameter.annotation in (bool, "bool") else None


def _parameters(function: Callable[..., Any]) -> list[_Parameter]:
    """The parameters that take one argument each."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise CannotGuess(f"{_named(function)} tells no signature: name a plain Python function") from None
    return [
        _Parameter(each.name, each.default is inspect.Parameter.empty, each.annotation)
        for each in parameters
        if each.kind not in variable
    ]


def _takes_more(function: Callable[..., Any], name: str) -> bool:
    """Whether a name that is no parameter has a place: `**kwargs`, or `*args` for `args[0]`."""
    kind = inspect.Parameter.VAR_POSITIONAL if "[" in name else inspect.Parameter.VAR_KEYWORD
    return any(each.kind is kind for each in inspect.signature(function).parameters.values())


def _named(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", "the function"))
