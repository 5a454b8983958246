"""The level for containers without user namespaces, tried as root: another user runs the worker and can read little."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox import Limits, other_user

Start = Callable[..., Any]


@pytest.fixture
def as_root() -> None:
    """Skips, saying so, where this process cannot start a worker as another user."""
    problem = other_user.why_not()
    if problem:
        pytest.skip(f"the level `user` was NOT tested: {problem}")


@pytest.mark.usefixtures("as_root")
def test_the_worker_is_nobody_s_user_and_stays_so(start: Start) -> None:
    code = """
    before = [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()]
    errors = [error_of(lambda: os.setuid(0)), error_of(lambda: os.setgid(0)), error_of(lambda: os.setgroups([0]))]
    no_new_rights = ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)
    say([before, errors, no_new_rights])
    """
    (uid, effective, gid, groups), errors, no_new_rights = start(code, "user").hear()
    assert uid == effective == gid != 0
    assert groups == []
    assert errors == ["EPERM"] * 3
    assert no_new_rights == 1


@pytest.mark.usefixtures("as_root")
def test_the_judge_s_files_and_its_environment_cannot_be_read(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "solutions"
    secret.mkdir()
    (secret / "state.py").write_text("answer")
    code = f"""
    paths = [{str(secret / "state.py")!r}, {str(secret)!r}, "/proc/{os.getpid()}/environ", "/proc/{os.getpid()}/mem",
             "/proc/{os.getpid()}/fd", "/root", "/etc/shadow"]
    say([error_of(lambda: os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)) for path in paths])
    """
    assert set(start(code, "user").hear()) <= {"EACCES", "EPERM"}


@pytest.mark.usefixtures("as_root")
def test_the_submission_and_the_kit_can_be_read_and_not_written(start: Start) -> None:
    code = """
    path = told["--submission"] + "/state.py"
    say([open(path).read(), error_of(lambda: open(path, "w")), error_of(lambda: open(__file__, "a"))])
    """
    assert start(code, "user").hear() == ["answer = 42\n", "EACCES", "EACCES"]


@pytest.mark.usefixtures("as_root")
def test_two_workers_are_two_users_who_cannot_touch_each_other(start: Start) -> None:
    first = start("say([os.getuid(), os.getpid(), os.environ['HOME']])\nstay()", "user")
    uid, pid, home = first.hear()
    code = f"""
    say([os.getuid(), error_of(lambda: os.kill({pid}, 9)), error_of(lambda: os.listdir({home!r})),
         error_of(lambda: open("/proc/{pid}/environ").read())])
    """
    other, *errors = start(code, "user").hear()
    assert other != uid
    assert errors == ["EPERM", "EACCES", "EACCES"]


@pytest.mark.usefixtures("as_root")
def test_nothing_is_left_of_it_in_folders_that_everybody_writes_to(start: Start) -> None:
    code = """
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        os.makedirs(f"{folder}/left-{os.getuid()}/deep")
        open(f"{folder}/left-{os.getuid()}/deep/file", "w").close()
    say(os.getuid())
    stay()
    """
    worker = start(code, "user", Limits())
    uid = worker.hear()
    worker.confined.kill()
    for folder in map(Path, ("/tmp", "/var/tmp", "/dev/shm")):
        assert not [path for path in folder.iterdir() if path.lstat().st_uid == uid]
    assert not Path(f"/tmp/rooflab-user-{uid}").exists()


def test_what_every_user_could_read_is_named_with_the_remedy(tmp_path: Path) -> None:
    top = Path("/tmp") / f"rooflab-test-{os.getpid()}"
    (top / "solutions").mkdir(parents=True)
    try:
        (top / "solutions" / "state.py").write_text("answer")
        for path in (top, top / "solutions"):
            path.chmod(0o755)
        (top / "solutions" / "state.py").chmod(0o644)
        assert "state.py can be read by every user" in other_user.exposed([top])
        assert f"chmod -R go-rwx {top}" in other_user.exposed([top])
        assert other_user.exposed([top], needed=[top / "solutions"]) == ""
        (top / "solutions").chmod(stat.S_IRWXU)
        assert other_user.exposed([top]) == ""
    finally:
        (top / "solutions" / "state.py").unlink()
        (top / "solutions").rmdir()
        top.rmdir()


def test_without_root_it_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "must be root" in other_user.why_not()
