"""Where the recorder listens: the interpreter's C calls for memory, its builder for dots and exps, its grid loop.

Every load and store ends in one of four functions of triton's C module, whichever way it came (block pointers,
descriptors, gathers). They get pointers with tags, judge them, and pass plain addresses on.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from ..interpreter import patches
from ..interpreter.libdevice import function_name
from .accesses import BlockPointer
from .views import ADDRESS_MASK

SPECIAL_FUNCTIONS = ("exp", "exp2", "log", "log2", "sqrt", "precise_sqrt", "rsqrt", "sin", "cos", "erf")
"""Builder methods, `create_exp` and so on, whose elements go to the special-function units."""
_SPECIAL_SYMBOLS = {
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "fsqrt", "dsqrt",
    "frsqrt", "sin", "cos", "tan", "sinpi", "cospi", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfcx", "erfinv", "erfcinv", "pow", "powi",
    "fast_exp", "fast_exp10", "fast_log", "fast_log2", "fast_log10", "fast_sin", "fast_cos", "fast_tan",
    "fast_tanh", "fast_pow",
}  # fmt: skip
"""Functions of libdevice that do the same, as `libdevice.function_name` has them: tanh for `__nv_tanhf`."""
_SPECIAL_INSTRUCTIONS = ("ex2.", "lg2.", "sqrt.", "rsqrt.", "sin.", "cos.", "tanh.")
"""The same in inline PTX."""


class Listening:
    """Which record the hooks write to; none outside a recorded launch."""

    def __init__(self) -> None:
        self.record: Any = None
        self.launch: Callable[..., Any] | None = None
        """Runs one launch: (executor, run, arguments, keywords); None outside a recorded call."""
        self.parameter_of: Callable[[Any], Any] | None = None
        """The view of a tensor argument that is being turned into a pointer; None outside a launch."""
        self.begins: Callable[[FrameType], None] | None = None
        """Called when all is ready and the first program is about to run, with the frame that runs them."""
        self.quiet: Callable[[], Any] | None = None
        """A context in which PyTorch's own calls by the interpreter are not the student's."""
        self.in_atomic = False
        self.block: BlockPointer | None = None
        """The block pointer that the next access goes through."""
        self.fresh = False
        """Whether the load in progress goes past the caches: volatile, or `.cv`."""

    def taken_block(self) -> BlockPointer | None:
        """The block pointer of the access that starts now, which is the only one to use it."""
        block, self.block = self.block, None
        return block


listening = Listening()


def install(interpreter: Any, c_code: Any) -> None:
    """Put the hooks in place: `interpreter` is triton's module, `c_code` its C module. Once a process."""
    _hook_memory(c_code)
    _hook_volatile_loads(interpreter.InterpreterBuilder)
    _hook_atomics(interpreter.InterpreterBuilder)
    _hook_arithmetic(interpreter.InterpreterBuilder)
    _hook_block_pointers(interpreter)
    _hook_launches(interpreter)
    _hook_beginnings(interpreter.InterpreterBuilder)


def _hook_memory(c_code: Any) -> None:
    def load(pointers: Any, mask: Any, other: Any, dtype: Any) -> Any:
        record = listening.record
        if record is None:
            return plain_load(pointers, mask, other, dtype)
        if listening.in_atomic:
            return plain_load(pointers & ADDRESS_MASK, mask, other, dtype)
        # Block pointers and descriptors pass masks as memory views.
        mask = np.asarray(mask)
        size, block = np.dtype(dtype).itemsize, listening.taken_block()
        addresses = record.load(pointers, mask, size, block, fresh=listening.fresh)
        return plain_load(addresses, mask, other, dtype)

    def store(pointers: Any, values: Any, mask: Any) -> None:
        record = listening.record
        if record is None:
            plain_store(pointers, values, mask)
        elif listening.in_atomic:
            plain_store(pointers & ADDRESS_MASK, values, mask)
        else:
            mask = np.asarray(mask)
            addresses, written = record.store(pointers, mask, values, listening.taken_block())
            plain_store(addresses, values, mask)
            record.stored(written)

    def atomic_rmw(operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any) -> Any:
        return plain_rmw(operation, _without_tags(pointers), values, mask, semantic)

    def atomic_cas(pointers: Any, compared: Any, values: Any, semantic: Any) -> Any:
        return plain_cas(_without_tags(pointers), compared, values, semantic)

    plain_load = patches.replace(c_code, "load", load)
    plain_store = patches.replace(c_code, "store", store)
    plain_rmw = patches.replace(c_code, "atomic_rmw", atomic_rmw)
    plain_cas = patches.replace(c_code, "atomic_cas", atomic_cas)


def _hook_volatile_loads(builder: Any) -> None:
    def create_masked_load(
        self: Any,
        ptrs: Any,
        mask: Any,
        other: Any,
        cache_modifier: Any,
        eviction_policy: Any,
        is_volatile: Any,
    ) -> Any:
        listening.fresh = bool(is_volatile) or str(cache_modifier).endswith("CV")
        try:
            return plain(self, ptrs, mask, other, cache_modifier, eviction_policy, is_volatile)
        finally:
            listening.fresh = False

    plain = patches.replace(builder, "create_masked_load", create_masked_load)


def _without_tags(pointers: Any) -> Any:
    return pointers if listening.record is None else pointers & ADDRESS_MASK


def _hook_atomics(builder: Any) -> None:
    # At the builder, since an atomic that the C code lacks (bf16) is made of its loads and stores.
    def create_atomic_rmw(
        self: Any, operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any, *rest: Any
    ) -> Any:
        record = listening.record
        if record is not None:
            exchange = "XCHG" in str(operation)
            record.atomic(
                pointers.data,
                mask.data,
                values.data.itemsize,
                reads=not exchange,
                adds=not exchange,
                ordering=_orders(semantic),
            )
        with _inside_atomic(record):
            return plain_rmw(self, operation, pointers, values, mask, semantic, *rest)

    def create_atomic_cas(
        self: Any, pointers: Any, compared: Any, values: Any, semantic: Any, *rest: Any
    ) -> Any:
        record = listening.record
        if record is not None:
            everywhere = np.ones(pointers.data.shape, dtype=np.bool_)
            record.atomic(
                pointers.data,
                everywhere,
                values.data.itemsize,
                reads=True,
                adds=False,
                ordering=_orders(semantic),
            )
        with _inside_atomic(record):
            return plain_cas(self, pointers, compared, values, semantic, *rest)

    plain_rmw = patches.replace(builder, "create_atomic_rmw", create_atomic_rmw)
    plain_cas = patches.replace(builder, "create_atomic_cas", create_atomic_cas)


def _orders(semantic: Any) -> bool:
    return "RELAXED" not in str(semantic)


@contextmanager
def _inside_atomic(record: Any) -> Iterator[None]:
    listening.in_atomic = True
    try:
        yield
    finally:
        listening.in_atomic = False
    if record is not None:
        record.updated()


def _hook_arithmetic(builder: Any) -> None:
    def create_dot(self: Any, a: Any, b: Any, d: Any, input_precision: Any, *rest: Any) -> Any:
        if listening.record is not None:
            flops = 2 * a.data.size * b.data.shape[-1]
            listening.record.dot(flops, _dot_dtype(a.dtype.scalar, str(input_precision)))
        return plain_dot(self, a, b, d, input_precision, *rest)

    def create_extern_elementwise(
        self: Any, library: Any, path: Any, symbol: str, arguments: Any, *rest: Any
    ) -> Any:
        if listening.record is not None and function_name(symbol, _SPECIAL_SYMBOLS):
            listening.record.exps += max((argument.data.size for argument in arguments), default=0)
        return plain_extern(self, library, path, symbol, arguments, *rest)

    def create_inline_asm(self: Any, assembly: str, constraints: Any, values: Any, *rest: Any) -> Any:
        if listening.record is not None and any(part in assembly for part in _SPECIAL_INSTRUCTIONS):
            listening.record.exps += max((value.data.size for value in values), default=0)
        return plain_asm(self, assembly, constraints, values, *rest)

    def counting(plain: Any) -> Any:
        def special_function(self: Any, argument: Any, *rest: Any) -> Any:
            if listening.record is not None:
                listening.record.exps += argument.data.size
            return plain(self, argument, *rest)

        return special_function

    plain_dot = patches.replace(builder, "create_dot", create_dot)
    plain_extern = patches.replace(builder, "create_extern_elementwise", create_extern_elementwise)
    plain_asm = patches.replace(builder, "create_inline_asm", create_inline_asm)
    for name in SPECIAL_FUNCTIONS:
        method = f"create_{name}"
        patches.replace(builder, method, counting(patches.current(builder, method)))


def _dot_dtype(operand: Any, precision: str) -> str:
    """The dtype in which a dot of such operands multiplies on the device: fp32 operands are cut to TF32 or split."""
    name = str(operand.name)
    if name == "fp32":
        if "BF16" in precision:
            return "bf16"
        return "tf32" if "TF32" in precision else "fp32"
    return "fp8" if name.startswith("fp8") else name


def _hook_block_pointers(interpreter: Any) -> None:
    # Of the interpreter up to triton 3.7, of the language from 3.8 on.
    handle = getattr(interpreter, "BlockPointerHandle", None)
    owner, name = (
        (interpreter.tl.core._block_ptr, "_materialize")
        if handle is None
        else (handle, "materialize_pointers")
    )

    def materialize(self: Any, boundary_check: Any = (), **options: Any) -> Any:
        made = plain(self, boundary_check, **options)
        if listening.record is not None:
            listening.block = BlockPointer(
                tuple(_integer(offset) for offset in self.offsets),
                tuple(_integer(size) for size in self.shape),
                tuple(_integer(length) for length in self.block_shape),
                frozenset(_integer(dim) for dim in boundary_check),
            )
        return made

    plain = patches.replace(owner, name, materialize)


def _integer(value: Any) -> int:
    """Of a number, a constexpr, a handle of the interpreter, or a tensor of the language."""
    value = getattr(value, "value", value)
    value = getattr(value, "handle", value)
    return int(np.asarray(getattr(value, "data", value)).reshape(-1)[0])


def _hook_launches(interpreter: Any) -> None:
    def __call__(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if listening.launch is None:
            return plain_call(self, *arguments, **keywords)
        return listening.launch(self, plain_call, arguments, keywords)

    # Tensors on the CPU go to the kernel as they are: triton's copies share their storages, and keep them in a
    # reference cycle, where a tensor that the student dropped would live on and count as a temporary.
    def _init_args_hst(self: Any, arguments: Any, keywords: Any) -> Any:
        if _all_on_cpu([*arguments, *keywords.values()]):
            return list(arguments), dict(keywords)
        with _quiet():
            return plain_init(self, arguments, keywords)

    def _restore_args_dev(self: Any, arguments: Any, copies: Any, keywords: Any, keyword_copies: Any) -> Any:
        if _all_on_cpu([*arguments, *keywords.values()]):
            return None
        with _quiet():
            return plain_restore(self, arguments, copies, keywords, keyword_copies)

    def _implicit_cvt(argument: Any) -> Any:
        converted = plain_cvt(argument)
        if listening.parameter_of is not None and hasattr(argument, "data_ptr"):
            view = listening.parameter_of(argument)
            if view is not None:
                converted.handle.data = np.array([view.base], dtype=np.uint64)
        return converted

    executor = interpreter.GridExecutor
    plain_call = patches.replace(executor, "__call__", __call__)
    plain_init = patches.replace(executor, "_init_args_hst", _init_args_hst)
    plain_restore = patches.replace(executor, "_restore_args_dev", _restore_args_dev)
    plain_cvt = patches.replace(interpreter, "_implicit_cvt", _implicit_cvt)


def _hook_beginnings(builder: Any) -> None:
    # The grid's size is told once arguments are converted and a callable grid was asked, right before programs run.
    def set_grid_dim(self: Any, *extents: int) -> None:
        plain(self, *extents)
        if listening.begins is not None:
            listening.begins(sys._getframe(1))

    plain = patches.replace(builder, "set_grid_dim", set_grid_dim)


def _all_on_cpu(values: Any) -> bool:
    """Whether no tensor among a kernel's arguments, in tuples and descriptors too, lies on a device."""
    for value in values:
        if isinstance(value, tuple):
            if not _all_on_cpu(value):
                return False
            continue
        tensor = value if hasattr(value, "data_ptr") else getattr(value, "base", None)
        device = getattr(tensor, "device", None)
        if device is not None and device.type != "cpu":
            return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    if listening.quiet is None:
        yield
        return
    with listening.quiet():
        yield
