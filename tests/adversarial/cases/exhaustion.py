"""Uses up the host: fork and thread bombs, memory of five kinds, a full disk, leaked descriptors.

Seen: one student's `while True: os.fork()` ended a whole class's grading.
Stopped by: a watchdog over the whole process tree (memory, processes, threads, CPU, number of files), sized tmpfs
for all that can be written, and the kernel's own limits on each process in between.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "exhaustion"


def stopped(name: str, call: str, word: str) -> Variant:
    return Variant(name, state(call=call), Expected(("crashed",), says=word), takes_s=8)


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
    stopped("fork_bomb", "import os\nwhile True:\n    os.fork()", "used more than it may (processes"),
    stopped(
        "thread_bomb",
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()",
        "used more than it may (threads",
    ),
    stopped("list", "kept = []\nwhile True:\n    kept.append([0] * 10**6)", "used more than it may (memory"),
    stopped(
        "numpy",
        "import numpy\nkept = []\nwhile True:\n    kept.append(numpy.ones(10**6))",
        "used more than it may (memory",
    ),
    stopped("mmap", MMAP, "used more than it may (memory"),
    stopped("children", FORKED, "used more than it may (memory"),
    Variant("one_claim", state(call="kept = bytearray(10**12)"), Expected(says="MemoryError")),
    Variant("disk", state(call=DISK), Expected(says="weights")),
    stopped("empty_files", EMPTY_FILES, "used more than it may (files"),
    Variant("descriptors", state(top="KEPT = []", call=LEAK), Expected()),
)
