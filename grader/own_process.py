"""The grader's own process: the descriptors that it begins with, and how it ends when somebody ends it."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from grader.refusal import INTERRUPTED

_heard: list[int] = []
"""The signal that is ending this process."""


def open_standard_descriptors() -> None:
    """Where the caller closed some, as `<&-` does, a file that a child is to inherit would get their number."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one


def hear_sigterm() -> None:
    """Have SIGTERM, which schedulers and `timeout` send, end what runs as Ctrl-C does: judges first, then folders.

    Without it the process would be gone at once, and its temporary folders would stay. A caller that has this process
    ignore the signal is obeyed.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one must not break off what the first one has begun
    _heard.append(number)
    raise KeyboardInterrupt


def end_interrupted() -> NoReturn:
    """Say so in one line, and end: with the exit code of Ctrl-C, or by the very signal, which the caller then sees."""
    print("grader: interrupted; run the same command again to go on", file=sys.stderr, flush=True)
    for number in _heard:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    sys.exit(INTERRUPTED)
