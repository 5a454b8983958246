"""Collectives on their way: each is numbered, and told of when it begins, is waited for and is through."""

import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import FrameType
from typing import Any, Protocol

import torch
from torch.distributed import distributed_c10d

from . import phases

Tell = Callable[[dict[str, Any]], None]
_Work: Any = distributed_c10d.Work


class Group(Protocol):
    """The process group that a call is made on."""

    key: str
    members: tuple[int, ...]


class Teller:
    """Numbers the calls of this rank and tells the watcher of each: when it begins, is waited for, and is through.

    Only the group and its works tell: a student's code that does so tells of messages that are none.
    """

    def __init__(self, tell: Tell, at_call: Callable[[], None] = lambda: None) -> None:
        self._tell = tell
        self._at_call = at_call
        self._number = 0
        self.misused = False
        """Whether somebody else has told something, or reached behind the group."""

    def begins(self, group: Group, kind: str, tensors: Sequence[torch.Tensor], **more: Any) -> int:
        """A call of `kind` that passes in `tensors` begins; its number."""
        self.look_at(sys._getframe(1))
        self._at_call()
        self._number += 1
        first = tensors[0].dtype if tensors else torch.uint8
        self._tell(
            {
                "event": "begins",
                "number": self._number,
                "group": group.key,
                "kind": kind,
                "bytes": sum(tensor.numel() * tensor.element_size() for tensor in tensors),
                "elements": sum(tensor.numel() for tensor in tensors),
                "dtype": str(first).removeprefix("torch."),
                "ranks": list(group.members),
                "phase": phases.current()[:100],
                **more,
            }
        )
        return self._number

    def waits(self, number: int) -> None:
        """The rank waits until its call is through."""
        self.look_at(sys._getframe(1))
        self._tell({"event": "waits", "number": number})

    def done(self, number: int) -> None:
        """It waits no more."""
        self.look_at(sys._getframe(1))
        self._tell({"event": "done", "number": number})

    def look_at(self, caller: FrameType) -> None:
        """Take note where the caller is neither the group nor one of its works."""
        own = caller.f_globals is globals() or caller.f_globals is vars(sys.modules[f"{__package__}.group"])
        self.misused = self.misused or not own


class RecordedWork(_Work):  # type: ignore[misc]  # PyTorch's stubs leave it out
    """A collective on its way."""

    def __init__(
        self, inner: Any, number: int, teller: Teller, after: Callable[[], None] | None = None
    ) -> None:
        super().__init__()
        self._inner, self._number, self._teller, self._after = inner, number, teller, after
        self._is_done = False

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until it is through."""
        if self._is_done:
            return True
        self._teller.waits(self._number)
        self._inner.wait()
        self._finish()
        self._teller.done(self._number)
        return True

    def _finish(self) -> None:
        after, self._after, self._is_done = self._after, None, True
        if after is not None:
            after()

    def is_completed(self) -> bool:
        """Whether it is through already."""
        if not self._is_done and self._inner.is_completed():
            if self._after is None:
                return True
            self._inner.wait()
            self._finish()
        return self._is_done

    def is_success(self) -> bool:
        """Whether it is through, without an error."""
        return bool(self._inner.is_success())

    def exception(self) -> Any:
        """What went wrong, None where nothing did."""
        return self._inner.exception()

    def synchronize(self) -> None:
        """Wait until it is through."""
        self.wait()

    def result(self) -> Any:
        """The tensors that it leaves."""
        return self._inner.result()

    def source_rank(self) -> int:
        """Who sent what was received from any source."""
        return int(self._inner._source_rank())

    _source_rank = source_rank

    def get_future(self) -> Any:
        """A future of the tensors that it leaves."""
        if self._after is not None:
            self.wait()
        return self._inner.get_future()


class Several:
    """Several works of gloo's as one."""

    def __init__(self, works: Sequence[Any]) -> None:
        self._works = works

    def wait(self) -> bool:
        for work in self._works:
            work.wait()
        return True

    def is_completed(self) -> bool:
        return all(work.is_completed() for work in self._works)

    def is_success(self) -> bool:
        return all(work.is_success() for work in self._works)

    def exception(self) -> Any:
        return next(filter(None, (work.exception() for work in self._works)), None)

    def result(self) -> Any:
        return [tensor for work in self._works for tensor in work.result()]

    def get_future(self) -> Any:
        futures = [work.get_future() for work in self._works]
        return futures[0] if len(futures) == 1 else torch.futures.collect_all(futures)


def together(works: Sequence[Any]) -> Any:
    """Works that one call asked for, as one: waiting for the last waits for all."""
    if len(works) == 1:
        return works[0]

    class _All(_Work):  # type: ignore[misc]  # PyTorch's stubs leave it out
        def wait(self, timeout: timedelta | None = None) -> bool:
            for work in works:
                work.wait()
            return True

        def is_completed(self) -> bool:
            return all(work.is_completed() for work in works)

        def get_future(self) -> Any:
            return torch.futures.collect_all([work.get_future() for work in works])

    return _All()
