"""What may be asked of a student's function: its value, or its value and gradients. Used in workers and self-checks.

torch is touched only where gradients are asked for, or where the student's file has imported it.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

Function = Callable[..., Any]


def callable_of(attribute: Any) -> Function:
    """What calling a file's attribute means: itself, and `apply` for a `torch.autograd.Function`."""
    torch = sys.modules.get("torch")
    is_class = torch is not None and isinstance(attribute, type)
    if torch is None or not is_class or not issubclass(attribute, torch.autograd.Function):
        function: Function = attribute
        return function
    one: Any = attribute

    def apply(*args: Any) -> Any:
        return one.apply(*args)

    # The names of its parameters are those of `forward`, without the context.
    _named_like(apply, one.forward, one.__name__, skip=1)
    return apply


def prepare(
    verb: str, function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Function, tuple[Any, ...], dict[str, Any]]:
    """A function and arguments whose plain call carries out the verb.

    Args:
        verb: "call", or "gradients" with the options `grad_outputs` (a tensor, or a tuple with one for each
            output) and `wrt` (positions and names of arguments; None for every tensor of floats).
        function: the student's, as `callable_of` gives it.
        args, kwargs: its arguments.
        options: of the verb.
    """
    if verb == "call":
        return function, tuple(args), dict(kwargs)
    wrt = options.get("wrt")
    given: dict[Any, Any] = {**dict(enumerate(args)), **dict(kwargs)}
    wanted = [name for name, value in given.items() if _is_float_tensor(value)] if wrt is None else list(wrt)
    # Detached: what is asked for depends on `wrt` alone, and the arguments stay as the caller made them.
    fresh = {
        name: value.detach().requires_grad_(name in wanted) if _is_float_tensor(value) else value
        for name, value in given.items()
    }
    inputs = [fresh[name] for name in wanted]

    def value_and_gradients(*args: Any, **kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        return _detached(value), _gradients(value, options.get("grad_outputs"), inputs)

    _named_like(value_and_gradients, function, getattr(function, "__name__", "f"))
    return (
        value_and_gradients,
        tuple(fresh[index] for index in range(len(args))),
        {name: fresh[name] for name in kwargs},
    )


def _gradients(
    value: Any, grad_outputs: Any, inputs: "Sequence[torch.Tensor]"
) -> "tuple[torch.Tensor | None, ...]":
    """Gradients of the outputs by each input; None by each that the outputs do not depend on."""
    import torch

    several = isinstance(grad_outputs, tuple | list)
    values = list(value) if isinstance(value, tuple | list) else [value]
    wanted = list(grad_outputs) if several else [grad_outputs]
    pairs = [
        (output, torch.ones_like(output) if seed is None else seed)
        for output, seed in zip(values, wanted, strict=False)
        if isinstance(output, torch.Tensor) and output.requires_grad and not (several and seed is None)
    ]
    if not pairs or not inputs:
        return (None,) * len(inputs)
    outputs, seeds = zip(*pairs, strict=True)
    return tuple(torch.autograd.grad(outputs, inputs, seeds, allow_unused=True))


def _detached(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, tuple | list):
        return tuple(_detached(part) for part in value)
    return value


def _is_float_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor) and value.is_floating_point()


def _named_like(function: Function, original: Any, name: str, skip: int = 0) -> None:
    """Give `function` the name and the parameters of `original`: evidence calls tensors by them."""
    function.__name__ = function.__qualname__ = name
    try:
        parameters = list(inspect.signature(original).parameters.values())[skip:]
        function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions take any attribute
    except (TypeError, ValueError):  # a builtin, or an object with an odd signature: it keeps (*args)
        return
