"""One recorded call: sets the listeners up, runs the function, gathers launches and findings into evidence."""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import FrameType, FunctionType, MappingProxyType
from typing import Any

import torch

from .. import interpreter
from ..evidence import CallEvidence, Finding, Launch, Place
from ..faults import KernelFault
from ..interpreter import autotune
from . import hooks, integrity, memory_watch, outcome
from .alone import OFFICIAL, Alone
from .frames import Names, held_by_modules, place_at, student_frames
from .hooks import listening
from .kernel_body import Body, not_triton
from .language import Language
from .launches import LaunchRecord
from .ledger import Ledger
from .memory_watch import MemoryWatch, Part
from .provenance import Provenance
from .torch_side import TorchSide
from .views import View

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_MOST_FINDINGS = 32


@dataclass(frozen=True)
class Recorded:
    """What a recorded call gave: its value, or what it raised, and the evidence."""

    value: Any
    error: BaseException | None
    evidence: CallEvidence


_installed = False
_tampered = False
_language: Language
_body: Body
_alone: Alone


def install() -> None:
    """See the package."""
    global _installed, _language, _body, _alone
    if _installed:
        return
    interpreter.install()
    from triton._C.libtriton import interpreter as c_code
    from triton.runtime import interpreter as tritons

    hooks.install(tritons, c_code)
    _language = Language()
    _body = Body(_language)
    _alone = Alone()
    integrity.remember(
        [sys.modules[name] for name in list(sys.modules) if name.startswith(__package__ + ".")]
    )
    _installed = True


def changed() -> bool:
    """See the package."""
    return _tampered or interpreter.changed() or integrity.changed()


def call_recorded(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    sanitize: bool,
    may_modify: Collection[str],
    root: str,
    given: object,
) -> Recorded:
    """See the package."""
    global _tampered
    install()
    call = _Call(function, args, kwargs, sanitize, root)
    if call.watch is not None:
        for _, tensor in outcome.storages({"given": given}):
            call.watch.known(tensor)
    value, error = None, None
    side = TorchSide(
        call.ledger,
        call.inputs,
        may_write=may_modify,
        root=root,
        watch=call.watch,
        provenance=call.provenance,
    )
    with ExitStack() as stack:
        previous = listening.launch, listening.quiet, autotune.restoring
        stack.callback(lambda: _listen(*previous))
        launch = call.launch
        _listen(launch, side.paused, call.watch.restoring if call.watch else previous[2])
        try:
            with side:
                value = function(*args, **kwargs)
        except Exception as raised:  # whatever the student's function raises is a result of the call
            error = interpreter.explain(raised) or raised
        found = call.watch is None or call.watch.tells(call._unseen)
        if listening.launch is not launch or not side.intact or call.tampered or not found:
            _tampered = True
    work = side.finish(value)
    if isinstance(error, KernelFault):
        call.found(error.finding)
    if sanitize:
        for finding in side.findings:
            call.found(finding)
        call.judge_end(value, may_modify, side.made_at)
    if call.watch is not None:
        work = work.model_copy(update={"outside_bytes": call.watch.outside_bytes})
    evidence = CallEvidence(launches=tuple(call.launches), torch=work, findings=tuple(call.findings.values()))
    return Recorded(value, error, evidence)


def _listen(launch: Any, quiet: Any, restoring: Any) -> None:
    listening.launch, listening.quiet, autotune.restoring = launch, quiet, restoring


class _Call:
    """The state of one call while it runs."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        sanitize: bool,
        root: str,
    ) -> None:
        arguments = _bound(function, args, kwargs)
        self.sanitize = sanitize
        self.tampered = False
        """Whether triton was not as it should be when a launch began."""
        self.ledger = Ledger()
        self.provenance = Provenance()
        self.launches: list[Launch] = []
        self.findings: dict[tuple[Any, ...], Finding] = {}
        self.inputs = dict(outcome.storages(arguments))
        self.names = Names(arguments, call_recorded.__code__)
        self._before = (
            {name: (t, outcome.bytes_now(t)) for name, t in self.inputs.items()} if sanitize else {}
        )
        self._input_storages = frozenset(t.untyped_storage().data_ptr() for t in self.inputs.values())
        self._stores: dict[int, tuple[str, Place, tuple[int, ...]]] = {}
        self._kernels: dict[int, str] = {}
        self._known_names: dict[tuple[Any, ...], str] = {}
        self._made_at: dict[str, Place] = {}
        """By name, of what is looked at when the call is over, where it was made."""
        self.watch = MemoryWatch(self.inputs.values(), self._unseen) if sanitize else None
        if self.watch is not None:
            for _, tensor in held_by_modules(root):
                self.watch.known(tensor)
        if not sanitize:
            memory_watch.forget()

    def found(self, finding: Finding) -> None:
        """Keep a finding; the same fault at the same line of the same tensor is one."""
        key = finding.kind, finding.kernel, finding.tensor, finding.place.file, finding.place.line
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.setdefault(key, finding)

    def launch(
        self, executor: Any, run: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Run one launch under the record."""
        from triton.runtime import interpreter as tritons

        builder = tritons.interpreter_builder
        code = executor.fn.__code__
        written: list[Part] = []
        record = LaunchRecord(
            executor.fn.__name__,
            place_at(code.co_filename, code.co_firstlineno),
            builder,
            self.ledger,
            self.found,
            self.names.tensor_at,
            lambda view: self._begin([view], written),
            self._input_storages,
            self.sanitize,
        )
        bound = _bound_kernel(executor.fn, arguments, keywords)
        waiting = self._tag(record, bound)
        self._begin(record.views, written)
        for value in bound.values():
            self.provenance.brought(value)
        record.config = _configuration(executor.constexprs, bound, keywords)
        record.config_index, record.config_count = _autotuned()
        builder.grid_dim = ()
        self.tampered = self.tampered or _language.changed()
        previous = listening.record, listening.parameter_of, listening.begins
        listening.record, listening.parameter_of = record, lambda argument: _taken(waiting, argument)
        begun: list[bool] = []
        listening.begins = lambda frame: begun.append(self._about_to_run(executor, frame, written))
        try:
            with _alone.kept():
                result = run(executor, *arguments, **keywords)
            self.tampered = self.tampered or begun != [True]
            if self.watch is not None:
                self.watch.judge(written)
                written.clear()
            return result
        finally:
            if self.watch is not None:  # a kernel that was broken off has told of no end
                self.watch.end(written)
            listening.record, listening.parameter_of, listening.begins = previous
            record.grid = tuple(int(size) for size in builder.grid_dim)
            self.launches.append(record.evidence())
            self.provenance.launched(len(record.views))
            self.provenance.launched(len(record.views))
            for view in record.views:
                if view.was_written or view.had_atomics:
                    self.provenance.stored(view.tensor)
            for storage, (place, program) in record.input_stores.items():
                self._stores.setdefault(storage, (record.kernel, place, program))

    def _about_to_run(self, executor: Any, frame: FrameType, written: list[Part]) -> bool:
        """Look at what is about to run, when nothing but the kernel itself runs any more; False if that cannot be told.

        `frame` is triton's own, which has converted the arguments and asked a callable grid.
        """
        if self.watch is not None:
            self.watch.still(written)
        self.tampered = self.tampered or _language.changed_in_launch()
        disturbed = _alone.disturbed() if OFFICIAL else ""
        if disturbed:
            words = (
                f"{disturbed} when the kernel starts: nothing but the kernel may run then, so end it before"
            )
            raise KernelFault(not_triton(executor.fn, words))
        local: dict[str, Any] = frame.f_locals
        grid, arguments = local.get("grid"), local.get("args")
        known = _language.runs_programs(frame) and executor is local.get("self")
        if not known or type(arguments) is not dict:
            return False
        if type(grid) is not tuple or not all(_body.is_size(size) for size in grid):
            raise KernelFault(not_triton(executor.fn, "its grid is no tuple of plain integers"))
        finding = _body.judge(executor.fn, arguments, self.provenance.brought)
        if finding is not None:
            raise KernelFault(finding)
        return True

    def _tag(self, record: LaunchRecord, bound: Mapping[str, Any]) -> dict[Any, list[View]]:
        """Give every tensor argument its view; the views by what identifies the tensor, in the order of arguments."""
        tensors = [pair for name, value in bound.items() for pair in _pointed(name, value)]
        names = self.names.of([tensor for _, tensor in tensors])
        waiting: dict[Any, list[View]] = {}
        for (parameter, tensor), name in zip(tensors, names, strict=True):
            view = record.add(tensor, parameter, name)
            if view is not None:
                waiting.setdefault(_key(tensor), []).append(view)
                self._kernels[view.storage] = record.kernel
                self._known_names.setdefault(_key(tensor), view.label)
        return waiting

    def _begin(self, views: list[View], written: list[Part]) -> None:
        """The memory watch looks at what a launch was given, and gets its stores told."""
        if self.watch is None:
            return
        views = [view for view in views if view.extent]
        for view, part in zip(views, self.watch.begin([view.tensor for view in views]), strict=True):
            view.kept = part.words(view.address, view.extent, view.itemsize)
            written.append(part)

    def _unseen(self, address: int, name: str) -> None:
        """What the memory watch found; a tensor that no frame of the student's holds has no name."""
        held = self.names.tensor_at(address)
        called = name or (held[0] if held else "")
        index = () if held is None or name else outcome.index_at(held[1], address)
        frame = next(student_frames(call_recorded.__code__), None)
        here = Place() if frame is None else place_at(frame.f_code.co_filename, frame.f_lineno)
        where = f", first at {list(index)}" if index else ""
        self.found(
            Finding(
                kind="unseen_write",
                place=self._made_at.get(name, here),
                tensor=called,
                index=index,
                message=f"the memory of {called or 'a tensor'} was changed by neither a kernel nor a PyTorch operation"
                f"{where}: it was written by its address, or through an array that shares it; store it in your "
                "kernel, or write it with PyTorch, as tensor.copy_(...) does",
            )
        )

    def judge_end(
        self, value: Any, may_modify: Collection[str], place_of: Callable[[torch.UntypedStorage], Place]
    ) -> None:
        """Findings that only the end of the call can tell."""
        # A store into the wrong tensor leaves the right one unwritten: the cause first.
        for finding in outcome.modified_inputs(self._before, self._stores, may_modify):
            self.found(finding)
        named = {
            self.names.seen(tensor) or self._known_names.get(_key(tensor)) or name: tensor
            for name, tensor in outcome.storages({"the returned value": value})
        }
        if self.watch is not None:
            grads = {f"{name}.grad": t.grad for name, t in self.inputs.items() if t.is_leaf}
            for name, tensor in (self.inputs | dict(outcome.storages(grads)) | named).items():
                self._made_at[name] = place_of(tensor.untyped_storage())
                self.watch.look([tensor], name)
        for finding in outcome.unwritten_outputs(named, self.ledger, self._kernels, place_of):
            self.found(finding)


def _bound(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by parameter; by position where the function tells no names.

    Nothing of the student's runs here: asked, a signature of theirs would see the arguments before anybody looks.
    """
    names: list[str] = []
    told = vars(function).get("__signature__") if type(function) is FunctionType else None
    if type(told) is inspect.Signature and type(told._parameters) is MappingProxyType:  # type: ignore[attr-defined]  # its own property could be another one
        names = [name for name in told._parameters if type(name) is str]  # type: ignore[attr-defined]  # its own property could be another one
    elif type(function) is FunctionType:
        names = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    if len(names) < len(args):
        return {"args": tuple(args), **kwargs}
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _bound_kernel(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """A kernel's arguments by parameter, launch options left out; what does not bind is for triton to refuse."""
    names = inspect.getfullargspec(function).args
    try:
        return inspect.getcallargs(function, *arguments, **{k: v for k, v in keywords.items() if k in names})
    except TypeError:
        return {}


def _pointed(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors that an argument hands to a kernel as pointers."""
    if isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from _pointed(f"{name}[{at}]", item)
    elif isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(getattr(value, "base", None), torch.Tensor):
        # A TensorDescriptor, or a tensor reinterpreted in another dtype.
        yield name, value.base


def _key(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype


def _taken(waiting: dict[Any, list[View]], argument: Any) -> View | None:
    """The view of the next argument that is this tensor; the interpreter made a new tensor object of it."""
    tensor = argument if isinstance(argument, torch.Tensor) else getattr(argument, "base", None)
    if not isinstance(tensor, torch.Tensor):
        return None
    views = waiting.get(_key(tensor), [])
    return None if not views else views[0] if len(views) == 1 else views.pop(0)


def _configuration(
    constexprs: Collection[str], bound: Mapping[str, Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    values = {name: bound[name] for name in constexprs if name in bound}
    values |= {name: keywords[name] for name in _OPTIONS if keywords.get(name) is not None}
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    """A configuration's value as JSON has it: a number, a text, a bool or None; the name of anything else."""
    value = getattr(value, "value", value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(getattr(value, "__name__", value))


def _autotuned() -> tuple[int, int]:
    """Which configuration of how many an autotuner is running."""
    current = interpreter.current_config()
    return (0, 1) if current is None else current[:2]
