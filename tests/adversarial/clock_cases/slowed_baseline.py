"""Slows the baseline down, so that it looks faster itself: children and threads that burn the machine's time.

Seen in: benchmarks that share a machine with what they measure. Stopped by: while the baseline is timed every process
of the submission is stopped, and what takes off from its times is measured in the baseline's process.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "slowed_baseline"

CHILDREN = """
import os

_children = []


def flash_forward(q, k, v, causal=False, scale=None):
    if not _children:
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                while True:
                    pass
            _children.append(pid)
    return slow(_fast_forward, q, k, v, causal, scale)
"""

LEADERLESS_CHILDREN = """
import ctypes
import os
import threading


def _burn():
    while True:
        pass


for _ in range(4):
    if os.fork() == 0:
        threading.Thread(target=_burn).start()
        ctypes.CDLL(None).syscall(60, 0)
"""

WAKES_ITSELF = """
import ctypes
import os
import signal
import struct


def _burn():
    signal.signal(signal.SIGCONT, lambda *_: None)
    libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
    libc.timer_create(1, struct.pack("=qiiq40x", 0, signal.SIGCONT, 0, 0), ctypes.byref(timer))
    libc.timer_settime(timer, 0, struct.pack("qqqq", 0, 5_000_000, 0, 5_000_000), None)
    while True:
        pass


if os.fork() == 0:
    _burn()
"""

VARIANTS = [
    Variant("children", attention(CHILDREN), Expected(("failed",), 0.0, "times the baseline"), FAST, 12.0),
    Variant(
        "leaderless_children",
        attention(LEADERLESS_CHILDREN),
        Expected(("failed",), 0.0, "times the baseline"),
        FAST,
        12.0,
    ),
    Variant(
        "wakes_itself",
        attention(WAKES_ITSELF),
        Expected(("failed", "integrity"), 0.0),
        FAST,
        12.0,
    ),
]
