"""Builds a student's nn.Module in every rank and runs it both ways: what came out, and what it keeps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from ..phases import mark


def run(
    student: Any,
    group: Any,
    x: torch.Tensor,
    grad: torch.Tensor,
    *,
    init: Sequence[Any],
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Build `student(*init, group=group, **options)` and call it; its collectives are marked forward and backward.

    Returns:
        kind: what is wrong with the class or its output, "" if nothing is;
        output, gradient_of_x: tensors; None where there is none;
        gradients: of the parameters by name, None for one without;
        shapes: of the parameters by name;
        held_bytes: of all storages that parameters, buffers and attributes of the module and its parts point to;
        changed: names of what the module was given and wrote to.
    """
    given = {
        "what it is built from": [part.clone() for part in init if isinstance(part, torch.Tensor)],
        "x": [x.clone()],
        "the gradient that arrives": [grad.clone()],
    }
    before = {name: [part.clone() for part in parts] for name, parts in given.items()}
    tensors = iter(given["what it is built from"])
    report: dict[str, Any] = {
        "kind": "",
        "output": None,
        "gradient_of_x": None,
        "gradients": {},
        "shapes": {},
        "held_bytes": 0,
        "changed": [],
    }
    mark("built")
    layer = student(
        *[next(tensors) if isinstance(part, torch.Tensor) else part for part in init],
        group=group,
        **(options or {}),
    )
    if not isinstance(layer, torch.nn.Module):
        return {**report, "kind": f"the class makes a {type(layer).__name__}, not an nn.Module"}
    parameters = dict(layer.named_parameters())
    report["shapes"] = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
    report["held_bytes"] = held_bytes(layer)
    entered = given["x"][0].requires_grad_()
    mark("forward")
    output = layer(entered)
    if not isinstance(output, torch.Tensor):
        return {**report, "kind": f"forward returns a {type(output).__name__}, not a tensor"}
    report["output"] = output.detach().clone()
    if output.requires_grad:
        # Of a wrong shape the output is refused, whatever its gradient; but all ranks must take part, or some wait.
        fits = output.shape == grad.shape
        mark("backward")
        torch.autograd.backward(
            output, given["the gradient that arrives"][0] if fits else torch.zeros_like(output)
        )
    mark("")
    report["gradient_of_x"] = entered.grad
    report["gradients"] = {name: parameter.grad for name, parameter in parameters.items()}
    report["changed"] = [
        name
        for name, parts in before.items()
        if any(not torch.equal(was, now.detach()) for was, now in zip(parts, given[name], strict=True))
    ]
    return report


def held_bytes(layer: torch.nn.Module) -> int:
    """Bytes of the storages of a module's tensors, each once; a view counts with the whole storage that it keeps."""
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for part in layer.modules()
        for tensor in _tensors(vars(part), depth=4)
    }
    return sum(storages.values())


def _tensors(value: object, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each, depth - 1)
