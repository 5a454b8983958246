"""Nothing but the kernel runs while it runs: no Python of the submission's that starts by itself.

A trace function, a signal handler, a callback of the collector or another thread would find the kernel's frame, and
with it the arrays that stand for its tiles. What may stay is kept quiet for the launch, what may not is named.
"""

import sys
from _thread import _count, get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from gc import callbacks, freeze, unfreeze
from signal import getsignal, valid_signals
from sys import getprofile, gettrace
from threading import main_thread
from typing import Any

# All of them bound here: a submission can put others into their modules.

OFFICIAL = __name__.startswith("_rooflab_worker.")
"""Whether this is a worker of the grader's: at a student's own desk a debugger may look on."""


class Alone:
    """What ran by itself before any code of the submission's did, which is the worker's own."""

    def __init__(self) -> None:
        self._handlers = _handlers()
        self._threads = _count()
        self._main = main_thread().ident
        self._stdout = sys.stdout, sys.stderr
        if OFFICIAL:
            sys.addaudithook(_no_more_hooks)

    def disturbed(self) -> str:
        """What else of Python would run in a launch, in words; "" where nothing would."""
        if gettrace() is not None or getprofile() is not None or _monitored():
            return "something traces what Python runs"
        if _handlers() != self._handlers:
            return "a signal handler of yours is set"
        if sys.stdout is not self._stdout[0] or sys.stderr is not self._stdout[1]:
            return "standard output is an object of yours"
        beside = _count() - self._threads
        if get_ident() != self._main:
            beside -= 1  # this one; the first thread, which is not counted, waits for it
        return "a thread of yours runs beside it" if beside > 0 else ""

    @contextmanager
    def kept(self) -> Iterator[None]:
        """What the collector would call, and objects that say something when they die, wait until the end."""
        waiting = callbacks[:]
        callbacks.clear()
        freeze()
        try:
            yield
        finally:
            unfreeze()
            callbacks[:] = waiting


def _no_more_hooks(event: str, _: Any) -> None:
    # A hook cannot be taken off again, and is called at each step of the recorder's. Python drops it without a word.
    if event == "sys.addaudithook":
        raise RuntimeError


def _handlers() -> dict[int, Any]:
    """Signal handlers in Python, by number."""
    found = {number: getsignal(number) for number in valid_signals()}
    return {number: handler for number, handler in found.items() if callable(handler)}


def _monitored() -> bool:
    monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on
    return monitoring is not None and any(monitoring.get_tool(tool) for tool in range(6))
