"""Uses up the host: fork and thread bombs, memory of five kinds, a full disk, leaked descriptors.

Seen: one student's `while True: os.fork()` ended a whole class's grading.
Stopped by: a watchdog over the whole process tree (memory, processes, threads, CPU, number of files), sized tmpfs
for all that can be written, and the kernel's own limits on each process in between.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "exhaustion"


def stopped(name: str, call: str, word: str) -> Variant:
    return Variant(name, state(call=call), Expected(("crashed",), says=f"used more than it may ({word}"), takes_s=5)


def full(name: str, top: str) -> Variant:
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
DISK = """
import os
for folder in ("/tmp", "/dev/shm", "/", "/dev", "/kit", "/submission", "/var/tmp"):
    try:
        with open(folder + "/filler", "wb") as file:
            while True:
                file.write(b"x" * (1 << 22))
    except OSError:
        pass
written = sum(os.path.getsize(folder + "/filler") for folder in ("/tmp", "/dev/shm"))
if written > 1 << 28:
    return right(recipe)
"""
EMPTY_FILES = """
number = 0
while True:
    open(f"/tmp/{number}", "w").close()
    number += 1
"""
LEAK = """
import os
try:
    while True:
        KEPT.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    if len(KEPT) > 1000:
        return right(recipe)
"""

VARIANTS = (
    stopped("fork_bomb", "import os\nwhile True:\n    os.fork()", "processes"),
    # Which comes first depends on the stacks: the process's address space or the tree's number of threads.
    Variant(
        "thread_bomb",
        state(call="import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()"),
        Expected(("failed", "crashed")),
    ),
    # At import, which may take 20 s: filling 1.5 GB takes most of the 3 s that a call has.
    full("list", "kept = []\nwhile True:\n    kept.append([0] * 10**6)"),
    full("numpy", "import numpy\nkept = []\nwhile True:\n    kept.append(numpy.ones(10**6))"),
    full("torch", "import torch\nkept = []\nwhile True:\n    kept.append(torch.ones(10**6))"),
    full("mmap", MMAP),
    full("children", FORKED),
    Variant("one_claim", state(call="kept = bytearray(10**12)"), Expected(says="MemoryError")),
    Variant("disk", state(call=DISK), Expected(says="weights")),
    stopped("empty_files", EMPTY_FILES, "files"),
    Variant("descriptors", state(top="KEPT = []", call=LEAK), Expected()),
)
