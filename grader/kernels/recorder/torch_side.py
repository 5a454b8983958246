"""PyTorch's part in one call of a student's function: operations, temporaries, unwritten memory read, inputs changed.

Not seen: what happens inside one operation (a library attention is one), inside a custom operator's body, through a
numpy view (from `.numpy()` on its tensor counts as written) or in a thread that was running before the call.
"""

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..evidence import Finding, Place, TorchWork
from .frames import place_at
from .ledger import Ledger, bytes_of
from .outcome import tensors_in
from .provenance import Provenance
from .torch_caller import name_in, student_frame
from .torch_memory import Block, Memory
from .torch_modes import threads_watched, watching
from .torch_ops import EMPTY, Operation, bound, read_tensors, storage_of, tensors, written_tensors
from .torch_shadow import ALL_WRITTEN, Outcome, flags_of, outcome, scatter_flags, set_flags

if TYPE_CHECKING:
    from .memory_watch import MemoryWatch


_MOST_FINDINGS = 16
"""A loop over a fault repeats it; nobody reads more."""


_Before = dict[int, tuple[int, int, NDArray[np.bool_] | None]]
"""By StorageImpl, before an operation: address, bytes, which were written (None for all)."""


class TorchSide:
    """Watches everything that PyTorch runs in a `with` block; ask `finish` for the figures after it.

    `inputs` are the argument tensors by the names to use in messages. Those named in `may_write` are outputs that
    the function is given to fill. `root` is the student's folder, resolved; empty for "whatever is no library".
    """

    def __init__(
        self,
        ledger: Ledger,
        inputs: Mapping[str, torch.Tensor],
        *,
        may_write: Collection[str] = (),
        root: str = "",
        watch: "MemoryWatch | None" = None,
        provenance: Provenance | None = None,
    ) -> None:
        self.findings: list[Finding] = []
        self.intact = True
        """False when the watch was found switched off at the end of the block."""
        self.largest_place = Place()
        """Where the largest temporary was made; after `finish`."""
        self._ledger = ledger
        self._watch = watch
        self._provenance = provenance or Provenance()
        self._inputs = {name: t for name, t in inputs.items() if storage_of(t) is not None}
        storages = [t.untyped_storage() for t in self._inputs.values()]
        self._input_storages = {storage._cdata for storage in storages}
        self._input_ranges = [(s.data_ptr(), s.data_ptr() + s.nbytes()) for s in storages]
        self._may_write = frozenset(may_write)
        self._root = root
        self._ops: dict[str, int] = {}
        self._memory = Memory(self._died)
        self._origins: dict[int, Finding] = {}
        """By StorageImpl: the pointwise operation that first computed with unwritten elements, for its results."""
        self._told: set[tuple[str, str, str, int]] = set()
        self._here = threading.local()
        self._lock = threading.RLock()
        self._open = False
        self._exit = ExitStack()

    def __enter__(self) -> "TorchSide":
        self._open = True
        self._exit.enter_context(threads_watched(self))
        self._exit.enter_context(watching(self))
        return self

    def __exit__(self, *error: object) -> None:
        before = dict(self._ops)
        self._ops.clear()
        with self._lock:
            torch.empty(0)
            self.intact = self.intact and self._ops == {"aten.empty": 1}
        self._ops = before
        self._open = False
        self._memory.close()
        try:
            self._exit.close()
        except Exception:  # a mode that the student took off the stack cannot be taken off again
            self.intact = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """PyTorch calls of this thread are the recorder's own meanwhile, and neither counted nor judged."""
        depth = getattr(self._here, "paused", 0)
        self._here.paused = depth + 1
        try:
            yield
        finally:
            self._here.paused = depth

    @property
    def awake(self) -> bool:
        """Whether a call of this thread is to be looked at."""
        return self._open and not getattr(self._here, "paused", 0)

    def made_at(self, storage: torch.UntypedStorage) -> Place:
        """The student's line that made a storage during the call; an empty place for any other."""
        block = self._memory.block_of(storage)
        return Place() if block is None else place_at(block.file, block.line)

    def finish(self, value: object) -> TorchWork:
        """The figures, with `value`, what the function returned, still alive.

        Gradients left on the inputs count as returned. Elements of the value that were computed from unwritten
        memory become findings here, and count as written from then on.
        """
        returned = [t for t in tensors_in(value) if storage_of(t) is not None]
        for tensor in returned:
            self._judge_returned(tensor)
        gradients = [t.grad for t in self._inputs.values() if t.is_leaf and t.grad is not None]
        kept = [t for t in (*returned, *gradients) if storage_of(t) is not None]
        peak = self._memory.peak(kept)
        if peak.largest_block.file:
            self.largest_place = place_at(peak.largest_block.file, peak.largest_block.line)
        return TorchWork(
            ops=dict(sorted(self._ops.items())),
            peak_temporary_bytes=peak.peak_bytes,
            largest_temporary_bytes=peak.largest_bytes,
            largest_temporary_shape=peak.largest_block.shape,
            computed_elements=self._provenance.computed_elements,
            merged_elements=self._provenance.merged_elements,
            brought_bytes=self._provenance.brought_bytes,
        )

    # what the modes tell

    def count(self, name: str) -> None:
        """One more run of an operation."""
        self._ops[name] = self._ops.get(name, 0) + 1

    def run(self, func: Any, op: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one operation and take note of it."""
        arguments = bound(op, args, kwargs)
        before: _Before = {}
        holes = False
        for tensor in _all(arguments.values()):
            storage = storage_of(tensor)
            if storage is not None:
                flags = self._ledger.written(storage)
                before[storage._cdata] = (storage.data_ptr(), storage.nbytes(), flags)
                holes = holes or flags is not None
        with self._followed(op, arguments):
            result = func(*args, **kwargs)
        with self._lock:
            self.count(op.name)
            results = list(tensors(result))
            self._note_made(results)
            self._provenance.ran(op, arguments, results)
            if op.resized:
                self._note_resized(op, arguments, before)
            # The state before the operation's own writes is what it read.
            state = self._state_after(func, op, arguments, results) if holes and op.reads else ALL_WRITTEN
            self._note_new(op, results, before, state)
            if op.written:
                self._note_writes(op, arguments, state)
        return result

    def left(self, name: str, tensor: torch.Tensor) -> None:
        """A tensor's elements were handed to Python: a list reads them, an array may write them unseen."""
        with self._lock:
            self.count(name)
            if self._watch is not None and name == "Tensor.tolist":
                self._watch.look([tensor])
            elif self._watch is not None:
                self._watch.handed_out(tensor)
            if name == "Tensor.tolist":
                self._unwritten(name, [tensor])
            elif storage_of(tensor) is not None:
                with self.paused():
                    set_flags(self._ledger, tensor, torch.tensor(True))

    # bookkeeping

    @contextmanager
    def _followed(self, op: Operation, arguments: dict[str, Any]) -> Iterator[None]:
        """Around an operation: the memory watch looks at what it takes, and follows what it writes."""
        watch = self._watch
        if watch is None:
            yield
            return
        taken = list(_all(arguments.values()))
        if op.reads or op.opaque:
            watch.look(taken)
        else:
            for tensor in taken:
                watch.met(tensor)
        written = watch.begin(written_tensors(op, arguments))
        if not op.name.startswith(("aten.", "prims.")):
            watch.outside_bytes += sum(
                part.end - part.first for part in written
            )  # nobody sees what it does inside
        try:
            yield
        finally:
            watch.end(written)

    def _note_made(self, results: list[torch.Tensor]) -> None:
        if self._watch is not None:
            for storage in map(storage_of, results):
                if storage is not None and storage.device.type == "cpu" and storage.nbytes():
                    self._watch.made(storage)

    def _died(self, key: int, address: int) -> None:
        self._origins.pop(key, None)
        self._provenance.died(key)
        self._ledger.died(address)

    def _note_resized(self, op: Operation, arguments: dict[str, Any], before: _Before) -> None:
        for tensor in _all(arguments[name] for name in op.resized if name in arguments):
            storage = storage_of(tensor)
            if storage is None or before.get(storage._cdata, ())[:2] == (
                storage.data_ptr(),
                storage.nbytes(),
            ):
                continue
            if storage._cdata not in before:
                continue  # set_ gave the tensor another storage
            address, size, flags = before[storage._cdata]
            self._ledger.died(address)
            self._ledger.made(storage, written=False)
            fresh = self._ledger.written(storage)
            if fresh is not None and size:
                keep = min(size, fresh.size)
                fresh[:keep] = True if flags is None else flags[:keep]
            if self._memory.knows(storage):
                self._memory.resized(storage)
            else:
                self._memory.made(storage, self._block(tensor), already_bytes=size)

    def _note_new(
        self,
        op: Operation,
        results: list[torch.Tensor],
        before: _Before,
        state: Outcome,
    ) -> None:
        # torch.tensor makes its storage out of sight and then "lifts" it.
        lifted = op.base in ("lift_fresh", "lift")
        for tensor in results:
            storage = storage_of(tensor)
            if storage is None or self._memory.knows(storage):
                continue
            if self._is_inputs(storage) or (storage._cdata in before and not lifted):
                continue
            self._memory.made(storage, self._block(tensor))
            self._ledger.made(storage, written=op.base not in EMPTY)
            if state.flags is not None and tensor.shape == state.flags.shape:
                set_flags(self._ledger, tensor, state.flags)

    def _note_writes(self, op: Operation, arguments: dict[str, Any], state: Outcome) -> None:
        for name in op.written:
            for tensor in tensors(arguments.get(name)):
                storage = storage_of(tensor)
                if storage is None:
                    continue
                partial = scatter_flags(self._ledger, op, arguments) if op.scatters else state.flags
                self._ledger.torch_wrote(tensor, op.name)
                if partial is not None and partial.shape == tensor.shape:
                    set_flags(self._ledger, tensor, partial)
                self._judge_write(op, tensor, storage)

    def _state_after(
        self, func: Any, op: Operation, arguments: dict[str, Any], results: list[torch.Tensor]
    ) -> Outcome:
        targets = results or list(_all(arguments[name] for name in op.written if name in arguments))
        state = outcome(self._ledger, func, op, arguments, targets)
        if state.fault:
            self._unwritten(op.name, read_tensors(op, arguments))
        elif state.computed:
            finding = self._first_unwritten(op.name, read_tensors(op, arguments))
            for tensor in targets:
                storage = storage_of(tensor)
                if storage is not None and finding is not None:
                    self._origins.setdefault(storage._cdata, finding)
        return state

    # verdicts

    def _first_unwritten(self, name: str, read: list[torch.Tensor]) -> Finding | None:
        for tensor in read:
            flags = flags_of(self._ledger, tensor)
            storage = storage_of(tensor)
            if flags is None or storage is None:
                continue
            origin = self._origins.get(storage._cdata)
            return origin if origin is not None else self._unwritten_finding(name, tensor, flags)
        return None

    def _unwritten(self, name: str, read: list[torch.Tensor]) -> None:
        finding = self._first_unwritten(name, read)
        if finding is not None:
            self._tell(finding)

    def _unwritten_finding(self, name: str, tensor: torch.Tensor, flags: torch.Tensor) -> Finding:
        frame = student_frame(self._root)
        called = name_in(frame, tensor)
        index = tuple(int(i) for i in np.argwhere(~flags.numpy())[0])
        missing = int((~flags).sum())
        what = "none" if missing == flags.numel() else f"{flags.numel() - missing} of {flags.numel()}"
        where = f"first hole at {list(index)}; " if what != "none" else ""
        return Finding(
            kind="uninitialised_read",
            place=_place(frame),
            tensor=called,
            index=index,
            message=f"{name} reads {called or 'a tensor'} of shape {tuple(tensor.shape)} in which {what} of the "
            f"elements were written: {where}torch.empty holds whatever was in memory, so write every element first, "
            "or make it with torch.zeros",
        )

    def _judge_returned(self, tensor: torch.Tensor) -> None:
        storage = storage_of(tensor)
        if storage is None or storage._cdata not in self._origins or flags_of(self._ledger, tensor) is None:
            return
        self._tell(self._origins[storage._cdata])
        set_flags(self._ledger, tensor, torch.tensor(True))

    def _judge_write(self, op: Operation, tensor: torch.Tensor, storage: torch.UntypedStorage) -> None:
        if storage._cdata not in self._input_storages or not tensor.numel():
            return
        sharing = {
            name: t for name, t in self._inputs.items() if t.untyped_storage()._cdata == storage._cdata
        }
        touched = np.zeros(storage.nbytes(), dtype=np.bool_)
        bytes_of(touched, tensor)[...] = True
        for name, shared in sharing.items():
            if name in self._may_write or not bytes_of(touched, shared).any():
                continue
            self._tell(
                Finding(
                    kind="modified_input",
                    place=_place(student_frame(self._root)),
                    tensor=name,
                    message=f"{op.name} changes the argument {name} itself: the caller's tensor is not yours to "
                    f"write, so put the result into a new tensor, or work on {name}.clone()",
                )
            )

    def _tell(self, finding: Finding) -> None:
        key = (finding.kind, finding.tensor, finding.place.file, finding.place.line)
        if key not in self._told and len(self.findings) < _MOST_FINDINGS:
            self._told.add(key)
            self.findings.append(finding)

    def _is_inputs(self, storage: torch.UntypedStorage) -> bool:
        """Whether the memory is that of an argument, be it through another storage (from numpy and back)."""
        address = storage.data_ptr()
        return any(first <= address < last for first, last in self._input_ranges)

    def _block(self, tensor: torch.Tensor) -> Block:
        frame = student_frame(self._root)
        if frame is None:
            return Block(tuple(tensor.shape), "", 0)
        return Block(tuple(tensor.shape), frame.f_code.co_filename, frame.f_lineno)


def _place(frame: Any) -> Place:
    return Place() if frame is None else place_at(frame.f_code.co_filename, frame.f_lineno)


def _all(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        yield from tensors(value)
