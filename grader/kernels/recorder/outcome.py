"""What only the end of a call can tell: returned elements that nothing wrote, arguments that are not what they were."""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..evidence import Finding, Place
from .ledger import Ledger, bytes_of


def storages(values: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Every plain CPU tensor among values, named `q`, `pair[0]`, `state['x']`, gradients not followed."""
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            if value.layout == torch.strided and value.device.type == "cpu":
                yield name, value
        elif isinstance(value, dict):
            yield from storages({f"{name}[{key!r}]": item for key, item in dict.items(value)})
        elif isinstance(value, (list, tuple)):
            fields = getattr(value, "_fields", None)
            yield from storages(
                {
                    f"{name}.{fields[at]}" if fields else f"{name}[{at}]": item
                    for at, item in enumerate(items_of(value))
                }
            )


def items_of(value: Any) -> Iterator[Any]:
    """What a list or a tuple holds, as it is sent: iterating a class of the student's may give something else."""
    return list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)


def bytes_now(tensor: torch.Tensor) -> NDArray[np.uint8]:
    """A copy of the bytes of a view's elements, shape (*tensor.shape, itemsize)."""
    # Through the storage: views that numpy knows no dtype of (bf16) or that require grad go the same way.
    storage = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage()).numpy()
    return bytes_of(storage, tensor).copy()


def index_at(tensor: torch.Tensor, address: int) -> tuple[int, ...]:
    """The index of the element with that address, for a contiguous tensor; () for any other."""
    if not tensor.is_contiguous() or not tensor.dim():
        return ()
    element = (address - tensor.data_ptr()) // tensor.element_size()
    return tuple(int(at) for at in np.unravel_index(element, tensor.shape))


def unwritten_outputs(
    named: Mapping[str, torch.Tensor],
    ledger: Ledger,
    kernels: Mapping[int, str],
    place_of: Callable[[torch.UntypedStorage], Place],
) -> Iterator[Finding]:
    """A finding for each returned tensor with elements that neither PyTorch nor a kernel wrote.

    `kernels` tells by storage which kernel was given the tensor last, `place_of` where a storage was made.
    """
    for name, tensor in named.items():
        flags = ledger.written(tensor.untyped_storage())
        if flags is None or tensor.numel() == 0:
            continue
        missing = np.asarray(~bytes_of(flags, tensor).all(axis=-1))
        count = int(np.count_nonzero(missing))
        if not count:
            continue
        index = tuple(int(at) for at in np.argwhere(missing)[0]) if missing.ndim else ()
        where = index[0] if len(index) == 1 else index
        how_many = (
            "no element was"
            if count == tensor.numel()
            else f"{count:,} of {tensor.numel():,} elements were never"
        )
        yield Finding(
            kind="unwritten_output",
            kernel=kernels.get(tensor.untyped_storage().data_ptr(), ""),
            place=place_of(tensor.untyped_storage()),
            tensor=name,
            index=index,
            message=f"{name}: {how_many} written{_first(where, count, tensor)}: "
            f"{_unwritten_cause(missing, name)}",
        )


def _first(where: Any, count: int, tensor: torch.Tensor) -> str:
    return "" if count == tensor.numel() else f", first at {where}"


def _unwritten_cause(missing: NDArray[np.bool_], name: str) -> str:
    if missing.all():
        return f"does the kernel store to {name}, and does the grid have programs?"
    if missing.ndim >= 2:
        rows: NDArray[np.bool_] = np.asarray(missing.reshape(-1, *missing.shape[-2:]).any(axis=0))
        if rows.any(axis=1).all() and not rows.any(axis=0).all():
            return "does the grid, or a loop, cover all columns?"
        return "does the grid cover all rows?"
    return "does the grid cover all of it?"


def modified_inputs(
    before: Mapping[str, tuple[torch.Tensor, NDArray[np.uint8]]],
    stores: Mapping[int, tuple[str, Place, tuple[int, ...]]],
    allowed: Collection[str],
) -> Iterator[Finding]:
    """A finding for each argument whose bytes a kernel changed; `stores` tells by storage who first wrote there.

    What PyTorch operations changed is the torch side's to tell.
    """
    for name, (tensor, bytes_before) in before.items():
        root = name.split("[")[0]
        storage = tensor.untyped_storage().data_ptr()
        if name in allowed or root in allowed or storage not in stores:
            continue
        changed = np.asarray((bytes_now(tensor) != bytes_before).any(axis=-1))
        count = int(np.count_nonzero(changed))
        if not count:
            continue
        kernel, place, program = stores[storage]
        index = tuple(int(at) for at in np.argwhere(changed)[0]) if changed.ndim else ()
        yield Finding(
            kind="modified_input",
            kernel=kernel,
            place=place,
            program=program,
            tensor=name,
            index=index,
            message=f"{kernel} line {place.line} `{place.source}`: program {program} stores into {name}, an argument "
            f"of the call; {count:,} of {tensor.numel():,} elements changed: write to a new tensor",
        )


def tensors_in(value: object, depth: int = 4) -> Iterator[torch.Tensor]:
    """The tensors of a returned value: in containers, dataclasses and modules, `depth` levels down."""
    if isinstance(value, torch.Tensor):
        yield value
        return
    inside: Collection[object] = ()
    if isinstance(value, dict):
        inside = list(dict.values(value))
    elif isinstance(value, (list, tuple)):
        inside = list(items_of(value))
    elif isinstance(value, (set, frozenset)):
        inside = value
    elif isinstance(value, torch.nn.Module):
        inside = [*value.parameters(), *value.buffers()]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inside = list(vars(value).values()) if hasattr(value, "__dict__") else ()
    if depth:
        for item in inside:
            yield from tensors_in(item, depth - 1)
