"""The most bytes of tensors alive at once in one rank, of those that are made while it is watched."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class LiveTensors:
    """Storages made while the rank works. One that is resized behind PyTorch's back counts at the next look."""

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._alive: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._older: set[int] = set()

    def know(self, value: object) -> None:
        """Tensors in `value` were there before: never counted."""
        for tensor in _tensors(value):
            self._older.add(tensor.untyped_storage()._cdata)

    def made(self, result: object) -> None:
        """Tensors in `result` have come out of an operation."""
        new = False
        for tensor in _tensors(result):
            try:
                storage = tensor.untyped_storage()
            except (NotImplementedError, RuntimeError):  # sparse and such: no storage of its own
                continue
            key = storage._cdata
            if key not in self._alive and key not in self._older and storage.device.type == "cpu":
                self._alive[key] = weakref.ref(storage, self._forgets(key))
                new = True
        if new:
            self.look()

    def _forgets(self, key: int) -> Callable[[object], None]:
        def gone(_: object) -> None:
            self._alive.pop(key, None)

        return gone

    def look(self) -> None:
        """Add up what is alive now."""
        storages = [reference() for reference in list(self._alive.values())]
        total = sum(storage.nbytes() for storage in storages if storage is not None)
        self.peak_bytes = max(self.peak_bytes, total)


class _Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    def __init__(self, live: LiveTensors) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._live = live

    @property
    def __torch_dispatch__(self) -> Any:
        """The handler; a plain method would have PyTorch import its whole compiler, 2 s, at the first operation."""
        return self._handle

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def _handle(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self._live.made(result)
        return result


@contextmanager
def watched(*given: object) -> Iterator[LiveTensors]:
    """Watch what PyTorch makes in this thread, its backward passes included; tensors in `given` are not counted."""
    live = LiveTensors()
    live.know(given)
    with _Mode(live):
        yield live
        live.look()


def _tensors(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part)
