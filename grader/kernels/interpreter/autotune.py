"""Autotuned kernels under the interpreter: every config runs, on the same inputs, and all have to agree.

On a device the tuner times the configs and keeps the fastest, so that any of them may be the one that counts.
"""

import ctypes
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import places
from ..evidence import Finding
from ..faults import KernelFault
from . import number_formats, patches
from .number_formats import Array

# Two tilings sum in another order: bf16 outputs then differ by a few roundings of 2^-9, wrong ones by far more.
_MOST_DIFFERENCE = 2e-2

_NOT_NUMPYS: dict[str, np.dtype[Any]] = {
    "bfloat16": number_formats.BF16,
    "float8_e4m3fn": number_formats.FP8["fp8e4nv"],
    "float8_e5m2": number_formats.FP8["fp8e5"],
}
"""Torch's names."""

_running: tuple[int, int, dict[str, Any]] | None = None


@contextmanager
def _unwatched(addresses: Collection[int]) -> Iterator[None]:
    yield


restoring: Callable[[Collection[int]], AbstractContextManager[None]] = _unwatched
"""Entered, with the storages' addresses, around what is written back between two configs: it is no student's doing."""


class _Memory(NamedTuple):
    """The bytes behind some tensor arguments."""

    argument: str
    address: int
    size: int
    dtype: np.dtype[Any]


class _Run(NamedTuple):
    """What one config left in memory."""

    label: str
    after: list[bytes]


def current_config() -> tuple[int, int, dict[str, Any]] | None:
    """Which config of an autotuned kernel runs now: its index, how many there are, its values. None outside a tuner."""
    return _running


def mend(autotuner: Any, interpreter_error: type[Exception]) -> None:
    """Replace `Autotuner.run` of `triton.runtime.autotuner`."""

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        try:
            return _run_all(self, args, kwargs, interpreter_error)
        finally:
            self.nargs = None

    patches.replace(autotuner.Autotuner, "run", run)


def _run_all(
    tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], interpreter_error: type[Exception]
) -> Any:
    configs = tuner.prune_configs(kwargs) if len(tuner.configs) > 1 else tuner.configs
    signature = _signature(tuner, args, kwargs)
    seen = tuner.__dict__.setdefault("_signatures_with_all_configs_run", {})
    if signature in seen:
        configs = [config for config in configs if config is seen[signature]] or configs[:1]
    everything = {**tuner.nargs, **kwargs}
    memory = _memory(everything) if len(configs) > 1 else []
    before = _read(memory)
    kept = _kept_by_tuner(tuner, everything, memory)
    first: _Run | None = None
    failure: Exception | None = None
    result = None
    for index, config in enumerate(configs):
        # The second config starts from what the first one left, as on a device, where the tuner restores only what
        # it was told to: whether the kernel can run twice is seen without a run more.
        _write(memory, before, kept if index == 1 and first is not None else range(len(memory)))
        try:
            returned = _run_one(tuner, args, kwargs, config, index, len(configs))
        except interpreter_error as error:
            if not _static_assert(error):
                raise
            failure = error
            continue
        this = _Run(_label(config), _read(memory))
        if first is None:
            first, result = this, returned
            tuner.best_config = seen[signature] = config
            continue
        differing = _differing(memory, before, first, this)
        if differing is not None and index == 1:
            stale = differing
            _write(memory, before, range(len(memory)))
            _run_one(tuner, args, kwargs, config, index, len(configs))
            this = _Run(this.label, _read(memory))
            differing = _differing(memory, before, first, this)
            if differing is None:
                raise KernelFault(_not_repeatable(tuner, stale))
        if differing is not None:
            raise KernelFault(_disagreement(tuner, first, this, differing))
    if first is None and failure is not None:
        raise failure
    if first is not None:
        _write(memory, first.after, range(len(memory)))
    return result


def _run_one(
    tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any, index: int, count: int
) -> Any:
    """One config with the hooks that a tuner would run around it."""
    global _running
    values = config.all_kwargs()
    twice = kwargs.keys() & config.kwargs.keys()
    if twice:
        raise ValueError(
            f"{', '.join(sorted(twice))} is set by the autotuner: leave it out of the kernel's launch"
        )
    everything = {**tuner.nargs, **kwargs, **values}
    _running = (index, count, dict(values))
    try:
        if config.pre_hook:
            config.pre_hook(everything)
        # Zeroing, as before each timed run. One config, or a key seen before, is not timed and so not zeroed.
        if count > 1:
            tuner.pre_hook(everything, reset_only=True)
        return tuner.fn.run(*args, **kwargs, **values)
    except Exception as error:
        # Not handled: whatever it is, say in which config it came up.
        error.add_note(f"in config {index + 1} of {count}: {_label(config)}")
        raise
    finally:
        _running = None


def _label(config: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in config.kwargs.items()) or str(config)


def _static_assert(error: BaseException) -> bool:
    """Whether a config was refused by `tl.static_assert`, which a tuner takes as a config to leave out."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, AssertionError):
        cause = cause.__cause__
    last = cause.__traceback__ if cause is not None else None
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_code.co_name == "_new_static_assert"


def _signature(tuner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Calls of one signature run all configs once, and then the first only, as the tuner's cache would have it."""
    parts: list[tuple[Any, ...]] = []
    for name, value in [*zip(tuner.arg_names, args, strict=False), *kwargs.items()]:
        tensor = getattr(value, "base", value)
        if hasattr(tensor, "data_ptr"):
            parts.append((name, tuple(tensor.shape), tensor.stride(), str(tensor.dtype)))
        elif not callable(value):
            parts.append((name, repr(value)))
    return tuple(parts)


def _memory(arguments: Mapping[str, Any]) -> list[_Memory]:
    """Storages of all tensor arguments, each once."""
    found: dict[int, _Memory] = {}
    for name, tensor in _tensors(arguments):
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if tensor.device.type == "cpu" and address and address not in found:
            found[address] = _Memory(name, address, storage.nbytes(), _numpy_dtype(str(tensor.dtype)))
    return list(found.values())


def _tensors(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        if isinstance(value, tuple):
            yield from _tensors({f"{name}[{index}]": part for index, part in enumerate(value)})
        else:
            # A tensor descriptor, and a tensor with its type reinterpreted, hold the tensor as their base.
            tensor = getattr(value, "base", None)
            tensor = value if tensor is None else tensor
            if hasattr(tensor, "untyped_storage"):
                yield name, tensor


def _numpy_dtype(torch_name: str) -> np.dtype[Any]:
    name = torch_name.removeprefix("torch.")
    try:
        return _NOT_NUMPYS.get(name) or np.dtype(name)
    except TypeError:
        return np.dtype(np.uint8)


# Read and written past torch: a copy by a torch op would be counted as the student's.
def _read(memory: list[_Memory]) -> list[bytes]:
    with restoring({block.address for block in memory}):
        pass  # whoever watches memory looks at it here: what is read now may be written back later
    return [ctypes.string_at(block.address, block.size) for block in memory]


def _write(memory: list[_Memory], contents: list[bytes], which: Collection[int]) -> None:
    with restoring({memory[number].address for number in which}):
        for number in which:
            ctypes.memmove(memory[number].address, contents[number], memory[number].size)


def _kept_by_tuner(tuner: Any, arguments: Mapping[str, Any], memory: list[_Memory]) -> list[int]:
    """Which of the memory a tuner restores between two configs itself; all of it, where it has hooks of its own."""
    if tuner.user_defined_pre_hook or tuner.user_defined_post_hook:
        return list(range(len(memory)))
    named = {name: value for name, value in arguments.items() if name in tuner.restore_value}
    addresses = {tensor.untyped_storage().data_ptr() for _, tensor in _tensors(named)}
    return [number for number, block in enumerate(memory) if block.address in addresses]


def _differing(
    memory: list[_Memory], before: list[bytes], first: _Run, this: _Run
) -> tuple[str, float] | None:
    """An argument in which two runs differ, and its relative L2 distance, over what either run has changed."""
    for block, old, expected, got in zip(memory, before, first.after, this.after, strict=True):
        if expected == got:
            continue
        distance = _distance(*(np.frombuffer(content, dtype=block.dtype) for content in (old, expected, got)))
        if not distance <= _MOST_DIFFERENCE:
            return block.argument, distance
    return None


def _distance(old: Array, expected: Array, got: Array) -> float:
    bits = np.dtype(f"u{old.dtype.itemsize}") if old.dtype.itemsize <= 8 else old.dtype
    touched = (expected.view(bits) != old.view(bits)) | (got.view(bits) != old.view(bits))
    wanted, found = expected[touched].astype(np.float64), got[touched].astype(np.float64)
    same = (wanted == found) | (np.isnan(wanted) & np.isnan(found))
    wanted, found = wanted[~same], found[~same]
    if not (np.isfinite(wanted).all() and np.isfinite(found).all()):
        return float("nan")
    all_wanted = expected[touched].astype(np.float64)
    scale = float(np.linalg.norm(all_wanted[np.isfinite(all_wanted)]))
    return float(np.linalg.norm(wanted - found)) / scale if scale else float("inf")


def _disagreement(tuner: Any, first: _Run, this: _Run, differing: tuple[str, float]) -> Finding:
    argument, distance = differing
    amount = "NaN or inf in one of them" if np.isnan(distance) else f"relative L2 {distance:.1e}"
    message = (
        f"two configs give different {argument} ({amount}): {first.label} and {this.label}; "
        "the tuner may keep either, so every config has to be right: look at masks and loop bounds of the tile sizes"
    )
    return _finding(tuner, argument, message)


def _not_repeatable(tuner: Any, differing: tuple[str, float]) -> Finding:
    argument = differing[0]
    message = (
        f"the kernel gives another {argument} when it runs twice, and an autotuner runs it many times on the same "
        f'tensors: add reset_to_zero=["{argument}"], or restore_value=["{argument}"] where it is updated in place'
    )
    return _finding(tuner, argument, message)


def _finding(tuner: Any, argument: str, message: str) -> Finding:
    function: Callable[..., Any] = tuner.base_fn
    place = places.line(function.__code__.co_filename, function.__code__.co_firstlineno)
    return Finding(
        kind="configs_disagree", kernel=function.__name__, place=place, tensor=argument, message=message
    )
