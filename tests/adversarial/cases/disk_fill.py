"""Fills the disk: large files wherever one can be written, or ten thousands of empty ones.

Seen: a log file of 200 GB on a shared grading machine; no inodes left.
Stopped by: all that can be written are two small tmpfs; the number of files in them is watched.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "disk_fill"

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

VARIANTS = (
    Variant("large_files", state(call=DISK), Expected(says="weights")),
    Variant(
        "empty_files",
        state(call=EMPTY_FILES),
        Expected(("crashed",), says="used more than it may (files"),
        takes_s=5,
    ),
)
