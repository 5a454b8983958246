"""Watches a child from inside: it says how long a slow run will take, and ends when its parent does."""

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

FIRST_WORD_S = 10.0
"""A small attention takes 1 s: whoever waits this long wants to know."""


def end_with_parent(stream: Any) -> None:
    """End this process when the other end of `stream` closes: a loop without end must not outlive a kill -9."""

    def wait() -> None:
        # Not stream.read(): a thread inside it holds a lock that the interpreter wants when it shuts down.
        while os.read(descriptor, 4096):
            pass
        os._exit(1)

    descriptor = stream.fileno()
    threading.Thread(target=wait, daemon=True).start()


def tell_progress(say: Callable[[str], None], patience_s: float, give_up: Callable[[str], None]) -> None:
    """After some seconds say how far the interpreter is; give up where it would take longer than `patience_s`.

    Looks at the interpreter's grid counter from a thread: the run itself is not slowed.
    """
    began = time.monotonic()

    def watch() -> None:
        time.sleep(FIRST_WORD_S)
        seen = _at()
        time.sleep(2.0)
        now = _at()
        passed = time.monotonic() - began
        # A launch of one program says nothing of the pace, and may be one that has ended.
        if now is None or now[2] == 1:
            say(
                f"the function has run for {passed:.0f} s; Ctrl-C stops it, and {duration(patience_s)} at the latest"
            )
            return
        name, done, total = now
        # The pace of these two seconds, or that of the whole time where no program ended in them.
        moved = now[1] - seen[1] if seen is not None and seen[0] == name and now[1] > seen[1] else 0
        pace = moved / 2.0 if moved else (done or 0.5) / passed
        left = (total - done) / pace
        text = f"the interpreter is at program {done:,} of {total:,} after {passed:.0f} s, about {duration(left)} to go"
        if moved and passed + left > patience_s:
            give_up(
                f"{text}, longer than the {duration(patience_s)} that this command waits: give smaller sizes with "
                "--shape; faults and compiled code are the same with a few tiles"
            )
        say(f"{text}; Ctrl-C stops it, smaller sizes with --shape show the same faults")

    threading.Thread(target=watch, daemon=True).start()


def _at() -> tuple[tuple[int, ...], int, int] | None:
    """(grid, programs done, programs) of the launch in progress; None where none is."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    builder = getattr(interpreter, "interpreter_builder", None)
    grid, at = getattr(builder, "grid_dim", None), getattr(builder, "grid_idx", None)
    if not grid or not at or len(grid) != 3 or len(at) != 3:
        return None
    done = (at[0] * grid[1] + at[1]) * grid[2] + at[2]  # z is the innermost loop
    return tuple(grid), int(done), int(grid[0] * grid[1] * grid[2])


def duration(seconds: float) -> str:
    """Whole seconds, minutes or hours."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"
