"""One recorded call: sets the listeners up, runs the function, gathers launches and findings into evidence."""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch

from .. import interpreter
from ..evidence import CallEvidence, Finding, Launch, Place
from ..faults import KernelFault
from . import hooks, integrity, outcome
from .alone import OFFICIAL, Alone
from .frames import Names, place_at
from .hooks import listening
from .kernel_body import Body, not_triton
from .language import Language
from .launches import LaunchRecord
from .ledger import Ledger
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
) -> Recorded:
    """See the package."""
    global _tampered
    install()
    call = _Call(function, args, kwargs, sanitize)
    value, error = None, None
    side = TorchSide(call.ledger, call.inputs, may_write=may_modify, root=root)
    with ExitStack() as stack:
        previous = listening.launch, listening.quiet
        stack.callback(lambda: _listen(*previous))
        launch = call.launch
        _listen(launch, side.paused)
        try:
            with side:
                value = function(*args, **kwargs)
        except Exception as raised:  # whatever the student's function raises is a result of the call
            error = interpreter.explain(raised) or raised
        if listening.launch is not launch or not side.intact or call.tampered:
            _tampered = True
    work = side.finish(value)
    if isinstance(error, KernelFault):
        call.found(error.finding)
    if sanitize:
        for finding in side.findings:
            call.found(finding)
        call.judge_end(value, may_modify, side.made_at)
    evidence = CallEvidence(launches=tuple(call.launches), torch=work, findings=tuple(call.findings.values()))
    return Recorded(value, error, evidence)


def _listen(launch: Any, quiet: Any) -> None:
    listening.launch, listening.quiet = launch, quiet


class _Call:
    """The state of one call while it runs."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], sanitize: bool
    ) -> None:
        arguments = _bound(function, args, kwargs)
        self.sanitize = sanitize
        self.tampered = False
        """Whether triton was not as it should be when a launch began."""
        self.ledger = Ledger()
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
        record = LaunchRecord(
            executor.fn.__name__,
            place_at(code.co_filename, code.co_firstlineno),
            builder,
            self.ledger,
            self.found,
            self.names.tensor_at,
            self._input_storages,
            self.sanitize,
        )
        bound = _bound_kernel(executor.fn, arguments, keywords)
        waiting = self._tag(record, bound)
        record.config = _configuration(executor.constexprs, bound, keywords)
        record.config_index, record.config_count = _autotuned()
        builder.grid_dim = ()
        self.tampered = self.tampered or _language.changed()
        previous = listening.record, listening.parameter_of, listening.begins
        listening.record, listening.parameter_of = record, lambda argument: _taken(waiting, argument)
        listening.begins = lambda: self._begin(executor, bound)
        try:
            with _alone.kept():
                return run(executor, *arguments, **keywords)
        finally:
            listening.record, listening.parameter_of, listening.begins = previous
            record.grid = tuple(int(size) for size in builder.grid_dim)
            self.launches.append(record.evidence())
            for storage, (place, program) in record.input_stores.items():
                self._stores.setdefault(storage, (record.kernel, place, program))

    def _begin(self, executor: Any, bound: Mapping[str, Any]) -> None:
        """Look at what is about to run, when nothing but the kernel itself runs any more."""
        self.tampered = self.tampered or _language.changed_in_launch()
        disturbed = _alone.disturbed() if OFFICIAL else ""
        if disturbed:
            words = (
                f"{disturbed} when the kernel starts: nothing but the kernel may run then, so end it before"
            )
            raise KernelFault(not_triton(executor.fn, words))
        finding = _body.judge(executor.fn, bound, executor.constexprs)
        if finding is not None:
            raise KernelFault(finding)

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
        for finding in outcome.unwritten_outputs(named, self.ledger, self._kernels, place_of):
            self.found(finding)


def _bound(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by parameter; by position where the function tells no signature or does not take them."""
    try:
        return dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return {"args": tuple(args), **kwargs}


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
