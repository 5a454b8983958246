"""Bytes that a sandbox's loopback device has carried, read from outside: nothing in the sandbox can change them.

A sandbox has a network of its own with that one device, so these are the bytes of its processes and of nobody else.
"""

import os

from grader.sandbox.tree import descendants


def loopback_bytes(pid: int) -> int | None:
    """Bytes received on the loopback device of the network that the processes below `pid` are in, headers included.

    Args:
        pid: bwrap's, as the host sees it.

    Returns:
        None where no process below is in a network of its own, or the system does not tell (it is not Linux).
    """
    own = _network("self")
    for process in reversed(descendants([pid])):
        network = _network(str(process.pid))
        if process.zombie or network is None or network == own:
            continue
        try:
            with open(f"/proc/{process.pid}/net/dev") as file:
                lines = file.read().splitlines()
        except OSError:  # it ended meanwhile: another one is in the same network
            continue
        for line in lines:
            name, _, counts = line.partition(":")
            if name.strip() == "lo":
                return int(counts.split()[0])
    return None


def _network(pid: str) -> str | None:
    """Name of the network namespace of a process; None where it cannot be read."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None
