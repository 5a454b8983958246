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


LEADERLESS = """
import ctypes, threading

def burn():
    ballast = bytearray(40_000_000)
    while True:
        pass

if os.fork() == 0:
    threading.Thread(target=burn).start()
    ctypes.CDLL(None).syscall(60, 0)
say("forked")
stay()
"""


def test_a_process_whose_first_thread_ended_is_no_zombie_and_stands_still_too(
    start: Start, level: Level
) -> None:
    worker = start(LEADERLESS, level)
    worker.hear()
    confined = worker.confined
    deadline = time.monotonic() + 5
    while (
        not (odd := [each for each in confined._tree.look() if each.threads > 1])
        and time.monotonic() < deadline
    ):
        time.sleep(0.01)
    time.sleep(0.2)
    odd = [each for each in confined._tree.look() if each.pid == odd[0].pid]
    assert odd
    assert not odd[0].zombie
    assert odd[0].resident_bytes > 40_000_000
    assert confined.pause()
    before_s = confined.cpu_s()
    time.sleep(0.3)
    assert confined.cpu_s() - before_s <= 0.02
    confined.kill()
    assert confined.poll() is not None
