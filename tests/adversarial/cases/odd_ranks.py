"""Ranks that come to no good end: they hang, die, disagree, leave processes behind, flood the watcher.

Seen: distributed homework whose deadlock held a grader's machine for a night, and whose ranks outlived it.
Stopped by: the watcher sees from outside which rank is in which collective; it names who waits for whom, kills every
rank with all that it has started, and the worker goes on. After two hangs the exercise's other checks are not run.
"""

import textwrap
from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "odd_ranks"

EXERCISE = "sharding.ring_all_reduce"
TOP = """
import ctypes
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
"""


def ring(call: str) -> Build:
    """A `ring_all_reduce` with this body, in which `rank` and `size` are known; a group of one raises."""

    def build(folder: Path, solutions: Path) -> Path:
        text = TOP + "\n\ndef ring_all_reduce(tensor, group=None):\n"
        text += "    rank, size = dist.get_rank(group), dist.get_world_size(group)\n"
        text += "    assert size > 1\n    total = tensor.clone(memory_format=torch.contiguous_format)\n"
        text += textwrap.indent(textwrap.dedent(call).strip("\n"), "    ") + "\n    return total\n"
        return write(folder, {"sharding/ring.py": text})

    return build


def variant(name: str, call: str, outcome: tuple[str, ...], says: str = "", slow: bool = False) -> Variant:
    return Variant(name, ring(call), Expected(outcome, says=says), EXERCISE, takes_s=25, slow=slow)


HUNG, DIED, WRONG = ("timed_out",), ("crashed",), ("failed",)

VARIANTS = (
    variant(
        "all_send_first",
        "dist.send(total, (rank + 1) % size); dist.recv(total, (rank - 1) % size)",
        HUNG,
        "rank 0 waits in send number 1 for rank 1",
    ),
    variant(
        "sleeps",
        "time.sleep(1e6) if rank == 1 else dist.barrier()",
        HUNG,
        "rank 0 waits in barrier",
        slow=True,
    ),
    variant(
        "deaf_to_signals",
        """
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            pass
        """,
        HUNG,
        "is still in its own code",
        slow=True,
    ),
    variant("exits", "os._exit(0) if rank else dist.barrier()", DIED, "rank 1 died with exit code 0"),
    variant(
        "segfaults", "ctypes.string_at(0) if rank else dist.barrier()", DIED, "died of signal 11", slow=True
    ),
    variant("kills_its_group", "os.kill(os.getppid(), signal.SIGKILL); dist.barrier()", DIED, slow=True),
    variant(
        "disagrees",
        "dist.barrier() if rank else dist.all_reduce(total)",
        WRONG,
        "rank 0 calls all_reduce, rank 1 barrier (call number 1)",
    ),
    variant(
        "leaves_daemons",
        """
        for _ in range(3):
            if not os.fork():
                os.setsid()
                if os.fork():
                    os._exit(0)
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(1e6)
        """,
        WRONG,
    ),
    variant("floods_the_watcher", "while True: dist.barrier()", HUNG, "has called 4,000 collectives", slow=True),
    variant(
        "half_a_frame",
        """
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"RLW1" + bytes([0, 0, 0, 99]))
            except OSError:
                pass
        time.sleep(1e6)
        """,
        ("integrity", "timed_out", "crashed"),
        slow=True,
    ),
    variant("huge_answer", "total = torch.zeros(200_000_000)", ("failed", "crashed"), slow=True),
    variant(
        "threads_that_live_on",
        "threading.Thread(target=time.sleep, args=(1e6,)).start()",
        WRONG,
        slow=True,
    ),
    variant(
        "closes_everything", "os.closerange(3, 1024); dist.barrier()", ("crashed", "failed", "timed_out")
    ),
)
