"""Takes leases and watches on files that it may only read, so that others who open them wait, or are seen.

Seen: an adversary of this suite, 2026; a worker whose user owns the file (the grader's own, seen through a read-only
mount) held everybody's `open` of `numpy/__init__.py` for up to 45 s, again and again, and a neighbour ran into the
limit of its import.
Stopped by: the system call filter, which refuses the commands of fcntl for leases and directory notices, and inotify.
"""

from tests.adversarial.case import Expected, Variant, breach

ATTACK = "file_leases"

TARGETS = """
import fcntl
import glob
import os
import signal

import numpy

signal.signal(signal.SIGIO, signal.SIG_IGN)
files = [numpy.__file__, os.__file__, __file__, "/usr/bin/env", *glob.glob("/kit/**/*.py", recursive=True)]
files += glob.glob("/kit/**/*.pyc", recursive=True)
"""

VARIANTS = (
    Variant(
        "leases",
        breach(
            TARGETS
            + """
for file in files:
    descriptor = os.open(file, os.O_RDONLY)
    for lease in (fcntl.F_WRLCK, fcntl.F_RDLCK):
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, lease)
            return True
        except OSError:
            continue
return False
"""
        ),
        Expected(),
        needs_sandbox=True,
    ),
    Variant(
        "notices",
        breach(
            TARGETS
            + """
import ctypes

libc = ctypes.CDLL(None)
watch = libc.inotify_init1(0)
seen = [libc.inotify_add_watch(watch, file.encode(), 0x20) for file in files]
for file in files:
    descriptor = os.open(os.path.dirname(file), os.O_RDONLY)
    try:
        fcntl.fcntl(descriptor, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
        seen.append(descriptor)
    except OSError:
        continue
return max(seen) >= 0
"""
        ),
        Expected(),
        needs_sandbox=True,
    ),
)
