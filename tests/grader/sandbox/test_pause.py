"""A worker that is paused stands still with everything that it started, and goes on where it was."""

import time
from collections.abc import Callable
from typing import Any

from grader.sandbox import Level

Start = Callable[..., Any]

COUNTS = """
import time
parent = os.getpid()
for _ in range(3):
    if os.getpid() == parent:
        os.fork()
file = open(os.environ["HOME"] + "/count", "ab", buffering=0)
if os.getpid() == parent:
    say("counting")
while True:
    file.write(b"x")
    time.sleep(0.001)
"""


def test_the_whole_tree_stands_still_and_goes_on(start: Start, level: Level) -> None:
    worker = start(COUNTS, level)
    worker.hear()
    confined = worker.confined
    assert confined.pause()
    stopped = [process for process in confined._tree.look() if not process.zombie]
    assert all(process.stopped for process in stopped)
    assert len(stopped) >= 4
    confined.resume()
    deadline = time.monotonic() + 5
    while any(process.stopped for process in confined._tree.look()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(process.stopped for process in confined._tree.look())


def test_a_paused_tree_can_be_killed(start: Start, level: Level) -> None:
    worker = start(COUNTS, level)
    worker.hear()
    assert worker.confined.pause()
    worker.confined.kill()
    assert worker.confined.poll() is not None
