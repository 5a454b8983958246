"""Tries to leave the sandbox: new namespaces, mounts, devices, other users, kernel interfaces that hold memory.

Seen: escapes from containers that had a namespace or a mount call left (CVE-2022-0185, CVE-2023-0386).
Stopped by: no further user namespaces, no capability, a read-only root, system calls that are not needed refused.
"""

from tests.adversarial.case import Expected, Variant, breach

ATTACK = "namespace_escape"

UNSHARE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000, 0x20000000, 0x40000000
if any(libc.unshare(flag) == 0 for flag in (CLONE_NEWUSER, CLONE_NEWUSER | CLONE_NEWNS, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET)):
    return True
return libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 or libc.chroot(b"/tmp") == 0
"""
USERS = """
import os
for attempt in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.chown("/tmp", 0, 0)):
    try:
        attempt()
        return os.geteuid() == 0
    except OSError:
        pass
return os.geteuid() == 0
"""
DEVICES = """
import os, stat
for path in ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/nvidia0", "/proc/kcore", "/proc/sysrq-trigger"):
    try:
        os.close(os.open(path, os.O_RDWR))
        return True
    except OSError:
        pass
try:
    os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
    return True
except OSError:
    return False
"""
SEGMENTS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(0, 1 << 20, 0o1600) >= 0 or libc.msgget(0, 0o1600) >= 0:
    return True
try:
    os.memfd_create("held")
    return True
except OSError:
    return False
"""
WRITES = """
import os
for path in ("/kit/x", "/kit-site/x", "/submission/x", "/usr/x", "/x", "/dev/x", "/etc/x", "/proc/sys/kernel/hostname"):
    try:
        with open(path, "w") as file:
            file.write("x")
        return True
    except OSError:
        pass
"""
FAILED = Expected(says="weights")

VARIANTS = (
    Variant("unshare_and_mount", breach(UNSHARE), FAILED),
    Variant("other_users", breach(USERS), FAILED),
    Variant("devices", breach(DEVICES), FAILED),
    Variant("segments", breach(SEGMENTS), FAILED, needs_sandbox=True),
    Variant("writes_elsewhere", breach(WRITES), FAILED),
)
