"""Makes the tensors of a call and binds them, the same in both child processes."""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from grader.kernel_report.families import TensorOf
from grader.kernel_report.loading import Unusable
from grader.kernel_report.signatures import DTYPES, OTHER_DTYPES, Inputs
from grader.kernel_report.task import Tensor

_SEED = 0
# Interpreting keeps copies of the inputs to tell what changed, and flags for every byte.
_COPIES = 4


class Call:
    """A function with its arguments.

    `run(*args)` calls it; `run` has a signature with the user's names, by which the meter names tensors.
    """

    def __init__(self, function: Callable[..., Any], inputs: Inputs, dtype: str, backward: bool) -> None:
        tensors = _tensors(inputs.tensors, dtype, backward)
        bound = _bound(function, {**inputs.others, **tensors})
        keywords = dict(bound.kwargs)
        names = _positional_names(bound)
        self.args = list(bound.args)
        self.keywords = keywords
        self.inputs = tuple(described_tensor(name, tensor) for name, tensor in tensors.items())
        complete = inspect.BoundArguments(bound.signature, bound.arguments.copy())
        complete.apply_defaults()
        self.others = {
            name: value
            for name, value in complete.arguments.items()
            if value is None or isinstance(value, bool | int | float | str)
        }

        def run(*args: Any, **keywords: Any) -> Any:
            result = function(*args, **keywords)
            if backward:
                first = next((each for _, each in found_tensors(result) if each.requires_grad), None)
                if first is None:
                    raise Unusable("--backward: no result of the function has a gradient to follow")
                # Ones with strides of their own: an expanded gradient is what autograd makes of a sum.
                first.backward(first.detach().new_ones(first.shape))
            return result

        kinds = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        kinds += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in keywords]
        run.__signature__ = inspect.Signature(kinds)  # type: ignore[attr-defined]  # functions take any attribute
        self.run = run


def described_tensor(name: str, tensor: Any) -> Tensor:
    """Shape, dtype and bytes of a torch tensor's elements."""
    return Tensor(
        name=name,
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        bytes=tensor.numel() * tensor.element_size(),
    )


def found_tensors(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Tensors of a result, in nested tuples, lists and dicts."""
    import torch

    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, tuple | list):
        for at, item in enumerate(value):
            yield from found_tensors(item, f"{name}[{at}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from found_tensors(item, f"{name}[{key!r}]")


def _tensors(wanted: Mapping[str, TensorOf], dtype: str, backward: bool) -> dict[str, Any]:
    """N(0, 1); integers are below every size of the other tensors, so that they can be indices of any."""
    import torch

    floats = [tensor for tensor in wanted.values() if tensor.dtype in ("", *DTYPES, "fp64")]
    needed = _COPIES * sum(_elements(tensor) for tensor in wanted.values()) * 4
    there = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise Unusable(
            f"these inputs need about {needed / 1e9:.3g} GB here, and {there / 1e9:.3g} GB are free: give smaller "
            "sizes; faults and compiled code are the same with a few tiles"
        )
    below = min((size for tensor in floats for size in tensor.shape), default=16)
    generator = torch.Generator().manual_seed(_SEED)
    made = {}
    for name, tensor in wanted.items():
        kind = getattr(torch, (DTYPES | OTHER_DTYPES)[tensor.dtype or dtype])
        if kind.is_floating_point:
            values = torch.randn(tensor.shape, generator=generator).to(kind)
            made[name] = values.requires_grad_(backward)
        elif kind is torch.bool:
            made[name] = torch.randn(tensor.shape, generator=generator) > 0
        else:
            made[name] = torch.randint(0, min(below, 128), tensor.shape, generator=generator).to(kind)
    return made


def _elements(tensor: TensorOf) -> int:
    count = 1
    for size in tensor.shape:
        count *= size
    return count


def _bound(function: Callable[..., Any], values: Mapping[str, Any]) -> inspect.BoundArguments:
    signature = inspect.signature(function)
    arguments: dict[str, Any] = {}
    left = dict(values)
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            arguments[parameter.name] = tuple(
                left.pop(name) for name in list(left) if name.startswith("args[")
            )
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments[parameter.name], left = left, {}
        elif parameter.name in left:
            arguments[parameter.name] = left.pop(parameter.name)
        elif parameter.default is not inspect.Parameter.empty:
            arguments[parameter.name] = parameter.default  # one further on may be given by position
    return inspect.BoundArguments(signature, arguments)


def _positional_names(bound: inspect.BoundArguments) -> list[str]:
    names: list[str] = []
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{name}_{at}" for at in range(len(bound.arguments.get(name, ())))]
        elif parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            names.append(name)
    return names[: len(bound.args)]
