"""One kernel compiled for one target: the report, kept by source so that the second time costs nothing."""

import contextlib
import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from .. import places
from ..evidence import CompiledLaunch, Place
from .machine_code import instructions, resources
from .messages import definition, explain
from .notes import cannot_run, notes_on
from .targets import WARP_THREADS, Target, occupancy

# Change it when a field or a note changes its meaning: kept reports of another edition are not read.
EDITION = 1


class Kept(BaseModel):
    """A report as it lies in the cache; grid and config index are the launch's, not the kernel's."""

    model_config = ConfigDict(frozen=True)

    launch: CompiledLaunch
    scratch_bytes: int = 0
    """Global memory that a launch must be given: tensor descriptors made in the kernel need it."""
    ends_tuning: bool = False
    """Whether an autotuner that meets this error stops, instead of passing the configuration over."""


def keep(report: Kept, path: Path | None) -> None:
    """Write a report where the next run finds it; a full or read-only folder costs speed, not the report."""
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(report.model_dump_json(), encoding="utf-8")
        draft.replace(path)


def compile_kernel(
    kernel: Any,
    *,
    signature: dict[str, Any],
    constants: dict[tuple[int, ...], Any],
    attributes: dict[tuple[int, ...], Any],
    options: Any,
    target: Target,
    cache: Path | None,
) -> Kept:
    """Compile a JITFunction as triton's launch would, or read the report of the same source from `cache`.

    Never raises for a kernel that does not compile: the report says why.
    """
    path = (
        None
        if cache is None
        else cache / f"{_key(kernel, signature, constants, attributes, options, target)}.json"
    )
    if path is not None:
        with contextlib.suppress(OSError, ValidationError):
            return Kept.model_validate_json(path.read_text(encoding="utf-8"))
    file, number = definition(kernel)
    launch = CompiledLaunch(
        kernel=kernel.fn.__name__,
        place=places.line(file, number),
        target=target.name,
        signature={name: str(kind) for name, kind in signature.items()},
        config=_config(kernel, constants, options),
        threads=options.num_warps * WARP_THREADS,
        compiles=False,
    )
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler import compile as triton_compile

    source = ASTSource(kernel, signature, constants, attributes)
    goal = GPUTarget("cuda", target.capability, WARP_THREADS)
    with _captured_output() as printed:
        try:
            compiled = triton_compile(source, target=goal, options=options.__dict__)
        except Exception as error:  # whatever the compiler raises about a student's kernel is its finding
            printed.stop()
            explained = explain(error, kernel, printed.text)
            update = {"message": explained.message, "error_place": explained.place}
            failed = Kept(launch=launch.model_copy(update=update), ends_tuning=_ends_tuning(error))
            keep(failed, path)
            return failed
    cubin = bytes(compiled.asm["cubin"])
    metadata = compiled.metadata
    taken = resources(cubin, target)
    shared_bytes = taken.shared_bytes + metadata.shared
    threads = metadata.num_warps * WARP_THREADS
    filled = occupancy(target, threads=threads, registers=taken.registers, shared_bytes=shared_bytes)
    refused = cannot_run(target, shared_bytes=shared_bytes, threads=threads, config=launch.config)
    counted = instructions(cubin)
    launch = launch.model_copy(
        update={
            "compiles": not refused,
            "message": refused,
            "registers": taken.registers,
            "spill_bytes": taken.spill_bytes,
            "shared_bytes": shared_bytes,
            "threads": threads,
            "blocks_per_sm": filled.blocks_per_sm,
            "occupancy": filled.occupancy,
            "limited_by": filled.limited_by,
            "ptx": compiled.asm["ptx"],
            **counted.model_dump(exclude={"local_accesses"}),
        }
    )
    notes = notes_on(launch, counted, compiled.asm["ttir"], _unaligned(kernel, signature, attributes))
    kept = Kept(
        launch=launch.model_copy(update={"notes": notes}),
        scratch_bytes=getattr(metadata, "global_scratch_size", 0) or 0,
    )
    keep(kept, path)
    return kept


def _key(
    kernel: Any,
    signature: dict[str, Any],
    constants: dict[tuple[int, ...], Any],
    attributes: dict[tuple[int, ...], Any],
    options: Any,
    target: Target,
) -> str:
    """Name everything that the report depends on: source with all it calls, types, constants, options, versions."""
    import triton

    values = sorted(
        (path, getattr(value, "cache_key", None) or repr(value)) for path, value in constants.items()
    )
    parts = (
        EDITION,
        triton.__version__,
        target.model_dump_json(),
        kernel.cache_key,
        definition(kernel),
        list(signature.items()),
        values,
        sorted(attributes.items()),
        options.hash(),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _config(kernel: Any, constants: dict[tuple[int, ...], Any], options: Any) -> dict[str, Any]:
    """Return the constexpr arguments and the options that a student sets, as plain data."""
    config: dict[str, Any] = {}
    for parameter in kernel.params:
        if parameter.is_constexpr and (parameter.num,) in constants:
            value = constants[(parameter.num,)]
            plain = value is None or isinstance(value, bool | int | float | str)
            config[parameter.name] = value if plain else getattr(value, "__name__", None) or str(value)
    config["num_warps"], config["num_stages"] = options.num_warps, options.num_stages
    if options.num_ctas != 1:
        config["num_ctas"] = options.num_ctas
    if options.maxnreg:
        config["maxnreg"] = options.maxnreg
    return config


def _unaligned(
    kernel: Any, signature: dict[str, Any], attributes: dict[tuple[int, ...], Any]
) -> tuple[str, ...]:
    """Return the pointers and integers that the compiler was not told are divisible by 16."""
    names = []
    for parameter in kernel.params:
        kind = str(signature.get(parameter.name, ""))
        divisible = "divisibility" in str(attributes.get((parameter.num,), ""))
        if (kind.startswith("*") or kind in ("i32", "i64")) and not divisible:
            names.append(parameter.name)
    return tuple(names)


def _ends_tuning(error: BaseException) -> bool:
    """Say whether an autotuner stops at an error: it passes over these three alone."""
    from triton.compiler.errors import CompileTimeAssertionFailure
    from triton.runtime.errors import OutOfResources, PTXASError

    return not isinstance(error, CompileTimeAssertionFailure | OutOfResources | PTXASError)


class _Printed:
    """Text that the compiler prints: triton with print, its passes straight to file descriptor 2."""

    def __init__(self) -> None:
        self.text = ""
        self._python = io.StringIO()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed in stop()
        sys.stderr.flush()
        self._former_stderr = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        self._former_stdout, sys.stdout = sys.stdout, self._python
        self._open = True

    def stop(self) -> None:
        if not self._open:
            return
        self._open = False
        sys.stdout = self._former_stdout
        os.dup2(self._former_stderr, 2)
        os.close(self._former_stderr)
        self._file.seek(0)
        self.text = self._file.read().decode("utf-8", "replace") + self._python.getvalue()
        self._file.close()


@contextlib.contextmanager
def _captured_output() -> Iterator[_Printed]:
    printed = _Printed()
    try:
        yield printed
    finally:
        printed.stop()


def launch_failed(kernel: Any, target: Target, message: str, place: Place) -> CompiledLaunch:
    """Return the report of a launch that never came as far as the compiler: wrong arguments, wrong grid."""
    file, number = definition(kernel)
    return CompiledLaunch(
        kernel=kernel.fn.__name__,
        place=places.line(file, number),
        target=target.name,
        compiles=False,
        message=message,
        error_place=place,
    )
