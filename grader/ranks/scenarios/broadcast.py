"""Runs a student's `broadcast_parameters` on a module whose values differ by rank."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn


def run(
    student: Callable[..., Any], group: Any, parameters: Sequence[Tensor], buffers: Sequence[Tensor]
) -> dict[str, Any]:
    """Broadcast a module of these tensors; every second parameter is frozen.

    Returns:
        parameters, buffers: what the module holds afterwards, in order.
        same_objects: whether they are the tensors of before, in storages of before.
        clean: whether no parameter has a gradient or a graph.
    """
    module = nn.Module()
    for index, value in enumerate(parameters):
        frozen = index % 2 == 1
        module.register_parameter(f"parameter_{index}", nn.Parameter(value.clone(), not frozen))
    child = nn.Module()
    for index, value in enumerate(buffers):
        child.register_buffer(f"buffer_{index}", value.clone())
    module.add_module("child", child)
    before = [*module.parameters(), *module.buffers()]
    places = [each.data_ptr() for each in before]
    student(module, group=group)
    after = [*module.parameters(), *module.buffers()]
    return {
        "parameters": [each.detach() for each in module.parameters()],
        "buffers": list(module.buffers()),
        "same_objects": len(before) == len(after)
        and all(old is new for old, new in zip(before, after, strict=True))
        and places == [each.data_ptr() for each in after],
        "clean": all(each.grad is None and each.grad_fn is None for each in module.parameters()),
    }
