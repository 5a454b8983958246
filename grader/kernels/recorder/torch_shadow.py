"""How the unwritten state of elements moves through PyTorch operations.

Copying unwritten elements is no fault, and neither is a pointwise operation on them: padding that is computed on and
then cut off harms nothing. Their copies, and what was computed from them, are unwritten too. An operation that mixes
elements (a sum, a softmax, a matrix product) or that hands one to Python is where the fault shows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .ledger import Ledger, bytes_of
from .torch_ops import Operation, read_tensors, storage_of, tensors

_COPIES = frozenset(("clone", "_to_copy", "copy_", "contiguous"))
_MOVES = frozenset(
    ("cat", "stack", "repeat", "flip", "roll", "index", "index_select", "gather", "constant_pad_nd")
)
"""Each element of the result is one element of the first argument, or a constant."""


def flags_of(ledger: Ledger, tensor: torch.Tensor) -> torch.Tensor | None:
    """Which elements of a view are written, bool of its shape; None where all are."""
    storage = storage_of(tensor)
    written = None if storage is None else ledger.written(storage)
    if written is None or tensor.numel() == 0:
        return None
    flags = bytes_of(written, tensor).all(axis=-1)
    return None if flags.all() else torch.from_numpy(np.ascontiguousarray(flags))


def set_flags(ledger: Ledger, tensor: torch.Tensor, flags: torch.Tensor) -> None:
    """Make the state of a view's elements this; the storage's other elements keep theirs."""
    storage = storage_of(tensor)
    if storage is None or tensor.numel() == 0:
        return
    written = ledger.written(storage)
    if written is None and bool(flags.all()):
        return
    if written is None:
        operation = ledger.torch_writes.get(storage.data_ptr())
        ledger.made(storage, written=False)
        if operation is not None:
            ledger.torch_writes[storage.data_ptr()] = operation
        written = ledger.written(storage)
        if written is None:
            return
        written[...] = True
    bytes_of(written, tensor)[...] = flags.expand(tensor.shape).numpy()[..., None]


class Outcome:
    """What an operation does to the state of its results."""

    def __init__(self, flags: torch.Tensor | None, *, fault: bool, computed: bool) -> None:
        self.flags = flags
        """Of every tensor that it makes or writes; None for all written."""
        self.fault = fault
        """It depends on unwritten elements in a way that shows."""
        self.computed = computed
        """Its result is computed from unwritten elements, not just a copy of them."""


ALL_WRITTEN = Outcome(None, fault=False, computed=False)
_FAULT = Outcome(None, fault=True, computed=True)


def outcome(
    ledger: Ledger, func: Any, op: Operation, arguments: dict[str, Any], results: list[torch.Tensor]
) -> Outcome:
    """The state of the results after an operation; a fault where it mixes unwritten elements into them.

    `arguments` by the schema's names, `results` the tensors that it returned. After a fault the results count as
    written, so that one fault is told once.
    """
    state = {id(t): flags_of(ledger, t) for t in read_tensors(op, arguments)}
    if all(flags is None for flags in state.values()):
        return ALL_WRITTEN

    def of(tensor: torch.Tensor) -> torch.Tensor:
        flags = state.get(id(tensor))
        return torch.ones(tensor.shape, dtype=torch.bool) if flags is None else flags

    shapes = {result.shape for result in results}
    if len(shapes) != 1:
        return _FAULT
    shape = shapes.pop()
    special = _special(func, op, arguments, of)
    if special is not None:
        return Outcome(special, fault=False, computed=False)
    if op.base in _COPIES or op.pointwise:
        flags = torch.ones(shape, dtype=torch.bool)
        for tensor in read_tensors(op, arguments):
            flags = flags & of(tensor)
        if flags.shape != shape:
            return _FAULT
        return Outcome(flags, fault=False, computed=op.base not in _COPIES)
    return _FAULT


def _special(
    func: Any, op: Operation, arguments: dict[str, Any], of: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor | None:
    """The state of a result that takes its elements from chosen places; None for other operations."""
    if op.base == "where" and op.name == "aten.where" and "other" in arguments:
        condition, one, other = (arguments[name] for name in ("condition", "self", "other"))
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and of(condition).all():
            return torch.where(condition.cpu(), of(one), of(other))
    if op.base == "masked_fill" and of(arguments["mask"]).all():
        return torch.logical_or(of(arguments["self"]), arguments["mask"].cpu())
    if op.base.rstrip("_") in ("tril", "triu"):
        first, rest = of(arguments["self"]).clone(), _rest(arguments)
        return torch.as_tensor(func(first, **rest) | ~func(torch.ones_like(first), **rest))
    if op.base in _MOVES:
        name, first = next(iter(arguments.items()))
        others = [t for key, value in arguments.items() if key != name for t in tensors(value)]
        if not all(of(t).all() for t in others):
            return None
        data = of(first) if isinstance(first, torch.Tensor) else [of(t) for t in first]
        rest = {**_rest(arguments), **({"value": True} if op.base == "constant_pad_nd" else {})}
        return torch.as_tensor(func(data, **rest))
    return None


def _rest(arguments: dict[str, Any]) -> dict[str, Any]:
    """All arguments but the first, on the CPU as the flags are."""
    items = list(arguments.items())[1:]
    return {name: _on_cpu(value) for name, value in items if name != "out"}


def _on_cpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    return [_on_cpu(item) for item in value] if isinstance(value, (list, tuple)) else value


def scatter_flags(ledger: Ledger, op: Operation, arguments: dict[str, Any]) -> torch.Tensor | None:
    """The state of `self` after an indexed write into it; None for all written (also where it is not worked out)."""
    target = next(iter(arguments.values()))
    flags = flags_of(ledger, target)
    if flags is None:
        return None
    if op.base in ("index_put_", "_index_put_impl_", "_unsafe_index_put_"):
        return flags.index_put_(_on_cpu(arguments["indices"]), torch.tensor(True))
    if op.base == "masked_fill_":
        return torch.logical_or(flags, arguments["mask"].cpu())
    return None
