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
import signal
import struct
import threading

signal.signal(signal.SIGCONT, lambda *_: None)
_libc = ctypes.CDLL(None)
_timer = ctypes.c_void_p()
_libc.timer_create(1, struct.pack("=qiiq40x", 0, signal.SIGCONT, 0, 0), ctypes.byref(_timer))
_libc.timer_settime(_timer, 0, struct.pack("qqqq", 0, 50_000_000, 0, 50_000_000), None)


def _burn():
    while True:
        pass


threading.Thread(target=_burn, daemon=True).start()
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
        Expected(("integrity",), 0.0, "while they were stopped"),
        FAST,
        12.0,
    ),
]
