"""Reads and writes other processes through /proc: environment, arguments, memory, descriptors.

Seen: a child of the same user wrote to its parent's descriptors through /proc/<ppid>/fd and read secrets in
/proc/<ppid>/environ even after they were unset.
Stopped by: a process namespace of its own, in which there is nothing but bubblewrap's first process and the
submission's; the judge hands its task over by a pipe, so that neither its arguments nor environment hold it.
"""

from tests.adversarial.case import Expected, Variant, breach, state

ATTACK = "ppid_proc"

# Anything that runs and is neither bubblewrap nor this worker, or an environment with the host's variables.
OTHERS = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        command = open(f"/proc/{pid}/cmdline", "rb").read()
        if command and int(pid) != os.getpid() and b"bwrap" not in command:
            return True
        variables = open(f"/proc/{pid}/environ", "rb").read()
        if any(name in variables for name in (b"VIRTUAL_ENV", b"PYTEST", b"PYTHONPATH", b"PWD=/root")):
            return True
    except OSError:
        pass
return os.getppid() > 1
"""
MEMORY = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid():
        continue
    try:
        memory = open(f"/proc/{pid}/mem", "r+b", buffering=0)
        for line in open(f"/proc/{pid}/maps"):
            first, last = (int(number, 16) for number in line.split()[0].split("-"))
            memory.seek(first)
            if b"BEGIN " + b"SOLUTION" in memory.read(last - first):
                return True
    except (OSError, OverflowError, ValueError):
        pass
"""
DESCRIPTORS = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid():
        continue
    for descriptor in range(64):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            with open(f"/proc/{pid}/fd/{descriptor}", "wb", buffering=0) as file:
                file.write(b"PASSED")
            return "bwrap" not in open(f"/proc/{pid}/cmdline").read()
        except OSError:
            pass
"""
PTRACE = """
import ctypes, os
libc = ctypes.CDLL(None)
return any(libc.ptrace(16, pid, 0, 0) == 0 for pid in (os.getppid(), *range(2, 400)) if pid not in (0, 1, os.getpid()))
"""

VARIANTS = (
    Variant("reads_others", breach(OTHERS), Expected(says="weights"), needs_sandbox=True),
    Variant("memory", breach(MEMORY), Expected(says="weights")),
    Variant("descriptors", breach(DESCRIPTORS), Expected(says="weights")),
    Variant("ptrace", breach(PTRACE), Expected(says="weights")),
    Variant(
        "kills_everybody",
        state(call="import os\nfor victim in (1, os.getppid(), -1):\n    try:\n        os.kill(victim, 9)\n    except OSError:\n        pass"),
        Expected(("failed", "crashed")),
    ),
)
