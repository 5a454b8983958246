"""Forbids user namespaces as machines do, to this process and all that it starts; a command line does it for another.

`python user_namespaces.py WAY UID COMMAND ...` runs COMMAND as user UID where WAY is one of

- `seccomp`: Docker's default profile, as far as namespaces go; needs root or no new privileges, changes nothing else;
- `sysctl`: user.max_user_namespaces=0, in a user namespace of its own that has every user of this one; needs root;
- `nothing`: forbids nothing.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

NEW_USER = 0x10000000  # linux/sched.h, CLONE_NEWUSER
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER_MODE = 38, 22, 2  # linux/prctl.h, linux/seccomp.h
# Numbers of clone, unshare, clone3 in the kernel's unistd tables.
_CALLS = {"x86_64": (56, 272, 435), "aarch64": (220, 97, 435)}
# linux/bpf_common.h and linux/seccomp.h, as in grader/sandbox/seccomp.py
_LOAD_WORD, _JUMP_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_OFFSET, _FIRST_ARGUMENT_OFFSET = 0, 16
# As many users as a container has.
_USERS = 65_536
_SETTING = Path("/proc/sys/user/max_user_namespaces")


def forbid_by_seccomp() -> None:
    """clone and unshare with CLONE_NEWUSER fail with EPERM, clone3, whose flags a filter cannot see, with ENOSYS.

    Raises:
        OSError: the kernel refuses the filter, or this machine's system calls are not known here.
    """
    if platform.machine() not in _CALLS:
        raise OSError(errno.ENOSYS, f"system calls of {platform.machine()} are not listed")
    clone, unshare, clone3 = _CALLS[platform.machine()]
    lines = [
        (_LOAD_WORD, 0, 0, _NUMBER_OFFSET),
        (_JUMP_EQUAL, 0, 1, clone3),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_JUMP_EQUAL, 1, 0, clone),
        (_JUMP_EQUAL, 0, 3, unshare),
        (_LOAD_WORD, 0, 0, _FIRST_ARGUMENT_OFFSET),
        (_JUMP_ANY_BIT, 0, 1, NEW_USER),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = struct.pack("@HP", len(lines), ctypes.addressof(code))  # struct sock_fprog
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", _PR_SET_SECCOMP, _FILTER_MODE, program, 0, 0)


def forbid_by_sysctl() -> None:
    """Enter a user namespace with all users of this one, in which there may be no further one.

    Raises:
        OSError: this process is not root, or there may be no user namespace here.
    """
    reading, writing = os.pipe()
    mapper = os.fork()
    if mapper == 0:  # only a process outside may map more than one user
        os.close(writing)
        os.read(reading, 1)
        outside = os.getppid()
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{outside}/{name}").write_text(f"0 0 {_USERS}")
        os._exit(0)
    try:
        _call("unshare", NEW_USER)
    finally:
        os.close(writing)
        _, status = os.waitpid(mapper, 0)
        os.close(reading)
    if status:
        raise OSError(errno.EPERM, "users could not be mapped")
    _SETTING.write_text("0")


def _call(name: str, *arguments: int | bytes) -> None:
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    if function(*(ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def main(words: Sequence[str]) -> None:
    """Become the command; see above."""
    way, uid, *command = words
    if way == "sysctl":
        forbid_by_sysctl()
    os.setgroups([])
    os.setgid(int(uid))
    os.setuid(int(uid))
    if way == "seccomp":
        forbid_by_seccomp()
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
