"""The system calls that a sandboxed worker does not get, as the BPF program that bubblewrap loads.

Three kinds are refused: ways to hold memory that belongs to no process, which the watchdog cannot see
(a memfd, a System V segment); large kernel interfaces that no exercise needs; and what reaches beyond the sandbox by
files that are read-only in it: a lease makes everybody else on the machine who opens the file wait, a watch tells when
others do. They fail with ENOSYS, as on a kernel without them, so that libraries take their other path.
"""

import contextlib
import errno
import os
import platform
import struct
from collections.abc import Iterator

# Numbers from the kernel's unistd tables: (x86-64, arm64).
_REFUSED = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "inotify_init": (253, 26),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
}
_FCNTL = (72, 25)
_REFUSED_OF_FCNTL = {"F_SETLEASE": 1024, "F_NOTIFY": 1026, "F_SETDELEG": 1040}  # linux/fcntl.h
# (AUDIT_ARCH_* of linux/audit.h, column above, first number of a second table behind the same instruction)
_MACHINES = {"x86_64": (0xC000003E, 0, 0x40000000), "aarch64": (0xC00000B7, 1, None)}

# linux/bpf_common.h and linux/seccomp.h
_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_OFFSET, _ARCH_OFFSET = 0, 4
_SECOND_ARGUMENT_OFFSET = 24  # its lower half: both machines are little-endian


def program(machine: str = platform.machine()) -> bytes | None:
    """Return the filter, an array of `struct sock_filter`, or None for a machine that is not listed.

    A call in another architecture's convention (32-bit x86) kills the process; the x32 table is refused.
    """
    if machine not in _MACHINES:
        return None
    arch, column, other_table = _MACHINES[machine]
    refuse = struct.pack("=HBBI", _RETURN, 0, 0, _ERRNO | errno.ENOSYS)
    lines = [
        struct.pack("=HBBI", _LOAD_WORD, 0, 0, _ARCH_OFFSET),
        struct.pack("=HBBI", _JUMP_EQUAL, 1, 0, arch),
        struct.pack("=HBBI", _RETURN, 0, 0, _KILL_PROCESS),
        struct.pack("=HBBI", _LOAD_WORD, 0, 0, _NUMBER_OFFSET),
    ]
    if other_table is not None:
        lines += [struct.pack("=HBBI", _JUMP_AT_LEAST, 0, 1, other_table), refuse]
    for numbers in _REFUSED.values():
        lines += [struct.pack("=HBBI", _JUMP_EQUAL, 0, 1, numbers[column]), refuse]
    lines.append(struct.pack("=HBBI", _JUMP_EQUAL, 0, 1 + 2 * len(_REFUSED_OF_FCNTL), _FCNTL[column]))
    lines.append(struct.pack("=HBBI", _LOAD_WORD, 0, 0, _SECOND_ARGUMENT_OFFSET))
    for command in _REFUSED_OF_FCNTL.values():
        lines += [struct.pack("=HBBI", _JUMP_EQUAL, 0, 1, command), refuse]
    lines.append(struct.pack("=HBBI", _RETURN, 0, 0, _ALLOW))
    return b"".join(lines)


@contextlib.contextmanager
def program_pipe() -> Iterator[int | None]:
    """A descriptor from which bwrap reads the program (`--seccomp FD`), or None where there is none."""
    filter_program = program()
    if filter_program is None:
        yield None
        return
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as file:
            file.write(filter_program)  # a few hundred bytes: a pipe takes them without a reader
        yield reading
    finally:
        os.close(reading)
