"""bf16 at the border to the interpreter's C code, which knows it as 16-bit integers: loads, stores and atomics."""

from typing import Any

import numpy as np

from . import patches
from .number_formats import BF16, Array

_BITS = np.dtype(np.uint16)


def mend(interpreter: Any) -> None:
    """Replace the builder's loads, stores and atomics by ones that know bf16. All else passes through untouched."""
    handle = interpreter.TensorHandle
    builder = interpreter.InterpreterBuilder
    c_code = interpreter._interpreter

    def create_masked_load(self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **options: Any) -> Any:
        element = ptrs.get_element_ty()
        if element.name != "bf16":
            return unmended_load(self, ptrs, mask, other, *rest, **options)
        fill = np.zeros(ptrs.data.shape, dtype=_BITS) if other is None else other.data.view(_BITS)
        return handle(c_code.load(ptrs.data, mask.data, fill, _BITS).view(BF16), element)

    def create_masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **options: Any) -> Any:
        return unmended_store(self, ptrs, _as_bits(value), mask, *rest, **options)

    def create_atomic_cas(self: Any, ptr: Any, cmp: Any, val: Any, *rest: Any, **options: Any) -> Any:
        old = unmended_cas(self, ptr, _as_bits(cmp), _as_bits(val), *rest, **options)
        return handle(old.data.view(BF16), val.dtype) if val.data.dtype == BF16 else old

    def create_atomic_rmw(
        self: Any, op: Any, ptr: Any, val: Any, mask: Any, *rest: Any, **options: Any
    ) -> Any:
        if val.data.dtype != BF16:
            return unmended_rmw(self, op, ptr, val, mask, *rest, **options)
        # An addition: the compiler refuses every other one of bf16, and so has triton's own check by now.
        return handle(_add_atomically(c_code, ptr.data, val.data, mask.data), val.dtype.scalar)

    def _as_bits(value: Any) -> Any:
        if value.data.dtype != BF16:
            return value
        return handle(value.data.view(_BITS), value.dtype)

    unmended_load = patches.replace(builder, "create_masked_load", create_masked_load)
    unmended_store = patches.replace(builder, "create_masked_store", create_masked_store)
    unmended_cas = patches.replace(builder, "create_atomic_cas", create_atomic_cas)
    unmended_rmw = patches.replace(builder, "create_atomic_rmw", create_atomic_rmw)


def _add_atomically(c_code: Any, pointers: Array, values: Array, mask: Array) -> Array:
    """`atom.add.noftz.bf16`: rounded after each addition. Elements that share an address are added in their order."""
    shape = np.broadcast_shapes(pointers.shape, values.shape)
    flat_pointers = np.broadcast_to(pointers, shape).reshape(-1)
    flat_values = np.broadcast_to(values, shape).reshape(-1)
    wanted = np.broadcast_to(mask, shape).reshape(-1)
    old = np.zeros(flat_values.shape, dtype=BF16)
    for turn in _turns(flat_pointers, wanted):
        at = np.ascontiguousarray(flat_pointers[turn])
        all_of_them = np.ones(at.shape, dtype=bool)
        before = c_code.load(at, all_of_them, np.zeros(at.shape, dtype=_BITS), _BITS).view(BF16)
        c_code.store(at, (before + flat_values[turn]).view(_BITS), all_of_them)
        old[turn] = before
    return old.reshape(shape)


def _turns(pointers: Array, wanted: Array) -> list[Array]:
    """Indices of the wanted elements, in groups within which no address comes twice."""
    indices = np.flatnonzero(wanted)
    turns = []
    while len(indices):
        _, first = np.unique(pointers[indices], return_index=True)
        first.sort()
        turns.append(indices[first])
        indices = np.delete(indices, first)
    return turns
