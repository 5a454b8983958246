"""The corpus as plain data: every kernel, its inputs and its reference; the broken ones with the finding they earn.

Everything that works on kernels can walk it: the interpreter, the meter, the sanitizer, the compile report, a GPU.
The modules import triton, so walk it in a process made for that: interpreted, or not.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

Inputs = tuple[tuple[Any, ...], dict[str, Any]]

HERE = Path(__file__).resolve().parent
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
ALL = tuple(DTYPES)
FAULT_MARK = "# fault"


@dataclass(frozen=True)
class Case:
    """A function that launches correct kernels."""

    name: str
    function: Callable[..., Any]
    make_inputs: Callable[[torch.dtype, int], Inputs]
    """Of a dtype and a seed; tensors on the CPU."""
    reference: Callable[..., Any]
    """Of an `oracle.Arithmetic` and the same arguments; gives as many tensors as the function."""
    dtypes: tuple[str, ...] = ALL


@dataclass(frozen=True)
class Broken:
    """A function with one fault."""

    name: str
    function: Callable[..., Any]
    make_inputs: Callable[[torch.dtype, int], Inputs]
    kind: str
    """A FindingKind of grader.kernels.evidence."""
    message: str
    """A regular expression that the finding's message matches somewhere."""
    also: tuple[str, ...] = ()
    """Kinds of findings that follow from the same fault: a result stored elsewhere is missing from the output."""
    dtypes: tuple[str, ...] = ALL

    @property
    def file(self) -> Path:
        return Path(inspect.getfile(inspect.unwrap(self.function)))

    @property
    def line(self) -> int:
        """The line marked `# fault`; the finding must point there."""
        marked = [
            n for n, text in enumerate(self.file.read_text().splitlines(), 1) if text.endswith(FAULT_MARK)
        ]
        if len(marked) != 1:
            raise ValueError(
                f"{self.file.name} has {len(marked)} lines that end in '{FAULT_MARK}'; mark exactly one"
            )
        return marked[0]


def names(folder: str) -> list[str]:
    """Module names in `correct` or `broken`, without importing them."""
    return sorted(path.stem for path in (HERE / folder).glob("*.py"))


def correct_cases() -> list[Case]:
    """Every correct case, by module and then in the module's order."""
    return [case for name in names("correct") for case in _module("correct", name).CASES]


def broken_cases() -> list[Broken]:
    """Every broken case; one module each."""
    return [_module("broken", name).CASE for name in names("broken")]


def _module(folder: str, name: str) -> Any:
    return importlib.import_module(f"tests.kernels.{folder}.{name}")


def randn(*shape: int, dtype: torch.dtype, seed: int) -> Tensor:
    """Normal values, the same on every machine."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator).to(dtype)


def to_device(value: Any, device: str) -> Any:
    """Tensors of nested tuples and dicts moved, strides, views of one storage and all."""
    storages: dict[int, Any] = {}

    def moved(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in storages:
            storage_bytes = torch.empty(0, dtype=torch.uint8).set_(storage)
            storages[storage.data_ptr()] = storage_bytes.to(device, copy=True).untyped_storage()
        out = torch.empty(0, dtype=tensor.dtype, device=device)
        return out.set_(storages[storage.data_ptr()], tensor.storage_offset(), tensor.shape, tensor.stride())

    def walk(item: Any) -> Any:
        if isinstance(item, Tensor):
            return moved(item)
        if isinstance(item, tuple | list):
            return type(item)(walk(member) for member in item)
        if isinstance(item, dict):
            return {key: walk(member) for key, member in item.items()}
        return item

    return walk(value)
