"""A function of a submission called on CPU tensors, while every kernel that it launches is compiled and none runs."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .. import grids, places
from ..evidence import CompiledLaunch, Finding
from ..faults import KernelFault, UnsupportedTriton
from .compiling import Kept, compile_kernel, launch_failed
from .device import stand_in_device
from .messages import advise, one_line
from .targets import Target, target_named

NO_GPU = (
    "not compiled with CUDA",
    "NVIDIA driver",
    "No CUDA GPUs",
    "Expected a cuda device",
    "CUDA is not available",
)

_replaced = False


class CompiledCall:
    """What one call launched: `launches`, each different one once, and the exception of the host code, or None."""

    def __init__(self, launches: tuple[CompiledLaunch, ...], error: Exception | None) -> None:
        self.launches = launches
        self.error = error


class StandInKernel:
    """In the place of triton's CompiledKernel: what host code may ask of it, and no way to run."""

    def __init__(self, session: "Session", jit: Any, kept: Kept) -> None:
        self.session, self.jit, self.kept = session, jit, kept
        report = kept.launch
        self.name = report.kernel
        self.n_regs, self.n_spills = report.registers, report.spill_bytes // 4
        self.n_max_threads = 1024
        self.module = self.function = self.packed_metadata = None
        self.asm = {"ptx": report.ptx}
        self.metadata = SimpleNamespace(
            shared=report.shared_bytes, name=report.kernel, **_options(report.config)
        )

    def _init_handles(self) -> None:
        """Host code calls it before it asks for `n_regs`."""

    def result(self) -> "StandInKernel":
        """Of a kernel compiled in the background; this one is there already."""
        return self

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*args: Any, **kwargs: Any) -> None:
            self.session.record(self, grid, args, kwargs)

        return launch


def _options(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: config.get(name, 1) for name in ("num_warps", "num_stages", "num_ctas")}


class Session:
    """The launches of one call."""

    def __init__(self, target: Target, cache: Path | None) -> None:
        self.target, self.cache = target, cache
        self.config_index, self.config_count = 0, 1
        self.seen: list[CompiledLaunch] = []
        self.touched: dict[int, Any] = {}

    def compile(
        self, jit: Any, signature: Any, constants: Any, options: Any, attributes: Any
    ) -> StandInKernel:
        """Compile a kernel whose arguments triton has bound."""
        kept = compile_kernel(
            jit,
            signature=signature,
            constants=constants,
            attributes=attributes,
            options=options,
            target=self.target,
            cache=self.cache,
        )
        return StandInKernel(self, jit, kept)

    def launch(self, jit: Any, args: Any, grid: Any, warmup: bool, kwargs: dict[str, Any]) -> Any:
        """Do what `kernel[grid](...)` does on a GPU, short of running it."""
        if id(jit) not in self.touched:
            # Kernels that another call compiled, or that were bound to another target, are not this call's.
            jit.device_caches.clear()
            self.touched[id(jit)] = jit
        try:
            kernel = _TRITON_RUN(jit, *args, grid=grid, warmup=True, **kwargs)
        except Exception as error:  # triton's refusal of the arguments is a finding on this launch
            self.failed(jit, advise(str(error)))
            return None
        # Host code that only asks what a kernel takes (`kernel.warmup`) launches nothing, unless it is refused.
        if isinstance(kernel, StandInKernel) and (not warmup or not kernel.kept.launch.compiles):
            self.record(kernel, grid, args, kwargs)
        return kernel

    def record(
        self, kernel: StandInKernel, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Add a launch with its grid."""
        names = kernel.jit.arg_names
        try:
            extents = _evaluated(grid, kernel.jit, args, {k: v for k, v in kwargs.items() if k in names})
            refused = _grid_refused(extents)
        except Exception as error:  # the student's own grid function, or what it returned
            self.failed(
                kernel.jit, f"the grid cannot be evaluated: {one_line(str(error) or type(error).__name__)}"
            )
            return
        kept = kernel.kept
        if not refused and kept.scratch_bytes and kept.launch.compiles and not _allocator_set():
            refused = (
                "compiles, but cannot run: tensor descriptors made in the kernel need global memory; call "
                "triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=...))"
            )
        update: dict[str, Any] = {"grid": extents, "config_index": self.config_index}
        update["config_count"] = self.config_count
        if refused and kept.launch.compiles:
            update |= {"compiles": False, "message": refused}
        if (refused or not kept.launch.compiles) and not kept.launch.error_place.line:
            update["error_place"] = places.here()[0]
        if kept.ends_tuning and self.config_count > 1:
            update["notes"] = ("an autotuner does not pass over this error: the launch fails with it",)
        self.seen.append(kept.launch.model_copy(update=update))

    def failed(self, jit: Any, message: str) -> None:
        """Add a launch that triton refused before compiling."""
        update = {"config_index": self.config_index, "config_count": self.config_count}
        self.seen.append(launch_failed(jit, self.target, message, places.here()[0]).model_copy(update=update))

    def launches(self) -> tuple[CompiledLaunch, ...]:
        """Return the reports in the order of the launches, equal ones once."""
        return tuple({launch.model_dump_json(): launch for launch in self.seen}.values())

    def close(self) -> None:
        """Leave no stand-in behind in a kernel's own cache."""
        for jit in self.touched.values():
            jit.device_caches.clear()


def _evaluated(grid: Any, jit: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the grid's extents; a callable gets all arguments by name, as on a GPU."""
    if callable(grid):
        bound = jit.signature.bind_partial(*args, **kwargs)
        bound.apply_defaults()
        grid = grid(dict(bound.arguments))
    extents = tuple(grid) if isinstance(grid, list | tuple) else (grid,)
    for extent in extents:
        if isinstance(extent, float):
            raise TypeError(f"an extent is {extent}, not an integer: use triton.cdiv")
    return tuple(int(extent) for extent in extents)


def _grid_refused(extents: tuple[int, ...]) -> str:
    if not 1 <= len(extents) <= 3:
        return f"the grid has {len(extents)} dimensions: 1 to 3 can be launched"
    words = grids.refused(extents)
    return f"compiles, but cannot run: {words}" if words else ""


def _allocator_set() -> bool:
    from triton.runtime import _allocation

    return not isinstance(_allocation._allocator.get(), _allocation.NullAllocator)


_current: Session | None = None
_TRITON_RUN: Callable[..., Any]


def _run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
    """In the place of JITFunction.run."""
    if _current is None:
        return _TRITON_RUN(self, *args, grid=grid, warmup=warmup, **kwargs)
    return _current.launch(self, args, grid, warmup, kwargs)


def _do_compile(
    self: Any, key: Any, signature: Any, device: int, constexprs: Any, options: Any, attrs: Any, warmup: bool
) -> Any:
    """In the place of JITFunction._do_compile, whose parameters are the same in triton 3.6, 3.7 and 3.8."""
    if _current is None:
        return None
    kernel = _current.compile(self, signature, constexprs, options, attrs)
    self.device_caches[device][0][key] = kernel
    return kernel


def _autotune(self: Any, *args: Any, **kwargs: Any) -> Any:
    """In the place of Autotuner.run: every configuration compiles, and the launch goes on with the first.

    Hooks run for each as in triton's own benchmark: some set the block shape of a tensor descriptor.
    """
    session = _current
    if session is None:
        raise RuntimeError("an autotuned kernel was launched after the call that launched it had ended")
    self.nargs = dict(zip(self.arg_names, args, strict=False))
    given = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
    configs = list(self.prune_configs(given))
    first = None
    for index, config in enumerate(configs):
        clash = given.keys() & config.kwargs.keys()
        if clash:
            raise ValueError(
                f"{', '.join(sorted(clash))} is given at the launch and by an autotune configuration"
            )
        everything = {**self.nargs, **given, **config.all_kwargs()}
        if config.pre_hook:
            config.pre_hook(everything)
        self.pre_hook(everything)
        session.config_index, session.config_count = index, len(configs)
        try:
            kernel = self.fn.run(*args, **kwargs, **config.all_kwargs())
        finally:
            session.config_index, session.config_count = 0, 1
        self.post_hook(everything, exception=None)
        first = kernel if index == 0 else first
    self.best_config = configs[0]
    if len(configs) > 1 and configs[0].pre_hook:
        configs[0].pre_hook({**self.nargs, **given, **configs[0].all_kwargs()})
    self.nargs = None
    return first


def changed() -> bool:
    """Whether a call since the start of this process put something else in the place of our hooks on triton."""
    return _replaced


def compile_call(
    function: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    target: str = "sm_90",
    cache: Path | None = None,
) -> CompiledCall:
    """Call a function and compile every kernel that it launches for a GPU that need not be there.

    No launch runs: outputs stay as the host code made them. `cache` is a folder of this submission alone, in which
    reports are kept by source; without one every kernel compiles anew.

    Raises:
        UnknownTarget: there is no such target.
        UnsupportedTriton: triton was imported with TRITON_INTERPRET set.
    """
    global _current, _replaced, _TRITON_RUN
    wanted = target_named(target)
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        raise UnsupportedTriton("this process interprets kernels: compile in one without TRITON_INTERPRET")
    hooks: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
        (JITFunction, "run", _run),
        (JITFunction, "_do_compile", _do_compile),
        (Autotuner, "run", _autotune),
    )
    former = [vars(owner)[name] for owner, name, _ in hooks]
    former_session, former_folder = _current, os.environ.get("TRITON_CACHE_DIR")
    if former_session is None:
        _TRITON_RUN = JITFunction.run
    error: Exception | None = None
    with (
        tempfile.TemporaryDirectory(prefix="rooflab-triton-") as folder,
        stand_in_device(target),
    ):
        # triton's own cache would be found by the next submission: nothing of it outlives the call.
        os.environ["TRITON_CACHE_DIR"] = folder
        _current = session = Session(wanted, cache)
        for owner, name, hook in hooks:
            setattr(owner, name, hook)
        try:
            function(*args, **(kwargs or {}))
        except Exception as raised:  # the student's host code may raise anything; it is part of the answer
            error = _cuda_only(raised) or raised
        finally:
            _replaced |= any(vars(owner).get(name) is not hook for owner, name, hook in hooks)
            for (owner, name, _), original in zip(hooks, former, strict=True):
                setattr(owner, name, original)
            _current = former_session
            session.close()
            if former_folder is None:
                os.environ.pop("TRITON_CACHE_DIR", None)
            else:
                os.environ["TRITON_CACHE_DIR"] = former_folder
    return CompiledCall(session.launches(), error)


def _cuda_only(error: Exception) -> KernelFault | None:
    """Return a fault of its own where host code insisted on a CUDA device."""
    place = places.of_traceback(error.__traceback__)[0]
    insists = isinstance(error, AssertionError) and "is_cuda" in place.source
    if not insists and not any(text in str(error) for text in NO_GPU):
        return None
    what = "asserts that a tensor is on a GPU" if insists else "asks for a CUDA device"
    fault = KernelFault(
        Finding(
            kind="cuda_only",
            place=place,
            message=f"line {place.line} {what}: take the device from the arguments, as device=q.device",
        )
    )
    fault.__cause__ = error
    return fault
