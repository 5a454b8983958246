"""The modes through which PyTorch tells of what it runs: in the calling thread, and in threads started meanwhile."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .torch_ops import Operation, operation

_TO_PYTHON: dict[Any, str] = {
    torch.Tensor.numpy: "Tensor.numpy",
    torch.Tensor.__array__: "Tensor.numpy",
    torch.Tensor.__dlpack__: "Tensor.numpy",
    torch.Tensor.tolist: "Tensor.tolist",
}
"""Ways out of PyTorch that are no operation of its dispatcher; counted beside the operations.

`np.asarray(tensor)` and `np.from_dlpack(tensor)` give the array that `.numpy()` gives, so they have its name.
"""


_PLAIN = (torch.Tensor, torch.nn.Parameter)


class Watcher(Protocol):
    """Who is told."""

    @property
    def awake(self) -> bool:
        """Whether a call of this thread is to be looked at."""

    def run(self, func: Any, op: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one operation, take note of it, and return its result."""

    def left(self, name: str, tensor: torch.Tensor) -> None:
        """A tensor's elements were handed to Python: a list reads them, an array may write them unseen."""


class _Dispatches(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees every operation that reaches PyTorch's dispatcher in this thread, autograd's backward included."""

    supports_higher_order_operators = True

    def __init__(self, side: Watcher) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.side = side
        self._shielded: Any = None

    @property
    def __torch_dispatch__(self) -> Any:
        """The handler, shielded from torch.compile only where that is loaded.

        A plain method gets the shield from PyTorch, which imports the whole compiler, 2 s, at the first operation.
        """
        compiler = sys.modules.get("torch._dynamo")
        if compiler is None:
            return self._handle
        if self._shielded is None:
            self._shielded = MethodType(compiler.disable(_Dispatches._handle), self)
        return self._shielded

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def _handle(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if any(kind not in _PLAIN for kind in types) and isinstance(func, torch._ops.OpOverload):
            # A tensor subclass first takes the operation apart, and the parts come here.
            return NotImplemented
        if not self.side.awake:
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            op = operation(func)
            if op.composite:
                with self:
                    result = func.decompose(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            return self.side.run(func, op, args, kwargs)


class _Functions(TorchFunctionMode):
    """Sees the ways out of PyTorch that its dispatcher does not."""

    def __init__(self, side: Watcher) -> None:
        super().__init__()
        self.side = side

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in _TO_PYTHON and self.side.awake:
            self.side.left(_TO_PYTHON[func], args[0])
        return result


@contextmanager
def watching(side: Watcher) -> Iterator[None]:
    """Both modes on in this thread."""
    with _Dispatches(side), _Functions(side):
        yield


@contextmanager
def threads_watched(side: Watcher) -> Iterator[None]:
    """Threads that start meanwhile are watched too: modes belong to one thread."""
    start = threading.Thread.start

    def started(thread: threading.Thread) -> None:
        run = thread.run

        def watched() -> None:
            with watching(side):
                run()

        thread.run = watched  # type: ignore[method-assign]
        start(thread)

    threading.Thread.start = started  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]
