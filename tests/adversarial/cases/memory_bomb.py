"""Takes memory without an end: lists, numpy, torch, anonymous maps, many children, or all in one claim.

Seen: a kernel that ended the instructor's browser instead of the submission.
Stopped by: a limit on the resident memory of the whole tree, and one on the address space of each process, which meets
a single claim before the watchdog looks.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "memory_bomb"


def full(name: str, top: str) -> Variant:
    # At import, which may take 20 s: filling 1.5 GB takes most of the 3 s that a call has.
    expect = Expected(("crashed",), says="while importing state.py: stopped: it used more than it may (memory")
    return Variant(name, state(top=top), expect, takes_s=6)


MMAP = """
import mmap
kept = []
while True:
    kept.append(mmap.mmap(-1, 1 << 24))
    kept[-1][:] = b"x" * (1 << 24)
"""
FORKED = """
import os, time
for _ in range(12):
    if os.fork() == 0:
        kept = bytearray(os.urandom(1 << 20)) * 400
        time.sleep(60)
time.sleep(60)
"""

VARIANTS = (
    full("list", "kept = []\nwhile True:\n    kept.append([0] * 10**6)"),
    full("numpy", "import numpy\nkept = []\nwhile True:\n    kept.append(numpy.ones(10**6))"),
    full("torch", "import torch\nkept = []\nwhile True:\n    kept.append(torch.ones(10**6))"),
    full("mmap", MMAP),
    full("children", FORKED),
    Variant("one_claim", state(call="kept = bytearray(10**12)"), Expected(says="MemoryError")),
)
