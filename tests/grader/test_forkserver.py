"""The server that forks judges: each judge on its own, a lost server, a broken one."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from grader.cohort import grade
from grader.forkserver import MANY_JUDGES
from grader.judge_processes import Forkserver, ServerLost, Setting, Starter
from grader.judges import Order
from grader.kit import find_kit
from tests.adversarial.grading import untimed
from tests.grader.grade_command import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="judges are forked on Linux only")

KIT = find_kit().root
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(KIT), "ONLY_THIS": "is here"}


def is_gone(pid: int) -> bool:
    """Or waits only for whom it was given to when its parent died."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def server(tmp_path: Path) -> Iterator[Forkserver]:
    """One that comes up although a library and a folder of mistakes that it was told of do not exist."""
    setting = Setting(
        KIT, ENVIRONMENT, "user", ["numpy", "no_such_library"], [tmp_path / "no_such_assignment"]
    )
    started = Forkserver(setting, tmp_path / "server")
    try:
        yield started
    finally:
        started.close()


def test_a_judge_has_descriptors_a_session_and_a_temporary_folder_of_its_own(tmp_path: Path) -> None:
    """Its task is no JSON, so that it ends at once with a traceback in its own log."""
    with server(tmp_path) as one, (tmp_path / "log").open("w+b") as log:
        judge = one.start(tmp_path, log)
        process = psutil.Process(judge.pid)
        assert os.getsid(judge.pid) == judge.pid
        assert process.environ()["ONLY_THIS"] == "is here"
        assert set(process.environ()) <= {*ENVIRONMENT, "LC_CTYPE"}
        assert judge.stdin is not None
        judge.stdin.write(b"no task\n")
        judge.stdin.flush()
        assert judge.wait(timeout=30) == 1
        assert b"JSONDecodeError" in (tmp_path / "log").read_bytes()


def test_what_workers_may_see_lies_ready_compiled(tmp_path: Path) -> None:
    with server(tmp_path) as one:
        assert list((one.view / "specs").rglob("*.pyc"))
        assert not (one.view / "specs" / "published").exists()


def test_a_judge_that_is_killed_is_told_with_its_signal_and_another_lives_on(tmp_path: Path) -> None:
    with server(tmp_path) as one, (tmp_path / "log").open("wb") as log:
        judge, other = one.start(tmp_path, log), one.start(tmp_path, log)
        os.kill(judge.pid, signal.SIGKILL)
        assert judge.wait(timeout=30) == -signal.SIGKILL
        assert other.returncode == 0
        assert psutil.pid_exists(other.pid)
        assert other.stdin is not None
        other.stdin.close()
        other.wait(timeout=30)


def test_the_judges_of_a_lost_server_are_ended_and_told_so(tmp_path: Path) -> None:
    with server(tmp_path) as one, (tmp_path / "log").open("wb") as log:
        judge = one.start(tmp_path, log)
        psutil.Process(judge.pid).parent().kill()  # type: ignore[union-attr]  # it lives: it has a parent
        assert judge.wait(timeout=30) == -signal.SIGKILL
        wait_for("the judge is gone", lambda: is_gone(judge.pid))
        with pytest.raises(ServerLost):
            one.start(tmp_path, log)


def test_a_server_that_was_stopped_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a submission of the same user can do, at level process."""
    with server(tmp_path) as one, (tmp_path / "log").open("wb") as log:
        judge = one.start(tmp_path, log)
        psutil.Process(judge.pid).parent().suspend()  # type: ignore[union-attr]  # it lives: it has a parent
        monkeypatch.setattr("grader.judge_processes._SERVER_START_S", 0.5)
        with pytest.raises(ServerLost):
            one.start(tmp_path, log)
        assert judge.wait(timeout=30) == -signal.SIGKILL


def test_a_judge_that_ended_while_its_server_was_stopped_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.judge_processes._TELLING_S", 0.5)
    with server(tmp_path) as one, (tmp_path / "log").open("wb") as log:
        judge = one.start(tmp_path, log)
        psutil.Process(judge.pid).parent().suspend()  # type: ignore[union-attr]  # it lives: it has a parent
        assert judge.stdin is not None
        judge.stdin.close()
        assert judge.wait() == -signal.SIGKILL
        assert judge.is_lost


def test_a_starter_replaces_a_lost_server(tmp_path: Path) -> None:
    starter = Starter(Setting(KIT, ENVIRONMENT, "user", ["numpy"]), tmp_path / "servers")
    try:
        with (tmp_path / "log").open("wb") as log:
            first, _ = starter.start(tmp_path, log)
            psutil.Process(first.pid).parent().kill()  # type: ignore[union-attr]  # it lives: it has a parent
            first.wait(timeout=30)
            second, view = starter.start(tmp_path, log)
            assert view is not None
            assert second.stdin is not None
            second.stdin.close()
            assert second.wait(timeout=30) == 1
    finally:
        starter.close()


def test_a_server_that_does_not_come_up_is_done_without_and_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Judges are started from nothing then, and say what is wrong."""
    broken = tmp_path / "broken" / "grader"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text('raise RuntimeError("this kit is broken")\n')
    environment = {**ENVIRONMENT, "PYTHONPATH": str(broken.parent)}
    setting = Setting(KIT, environment, "user", ["numpy"])
    starters = [Starter(setting, tmp_path / name) for name in ("servers", "servers of the next cohort")]
    try:
        with (tmp_path / "log").open("wb") as log:
            for starter in (*starters, starters[0]):
                judge, view = starter.start(tmp_path, log)
                assert view is None
                assert judge.wait(timeout=60) == 1
        assert (tmp_path / "log").read_text().count("\nRuntimeError: this kit is broken") == 3
        assert len(list((tmp_path / "servers").iterdir())) == 1
    finally:
        for starter in starters:
            starter.close()
    assert capsys.readouterr().err == (
        "judges are started one by one, a second each, since none can be forked: "
        "RuntimeError: this kit is broken\n"
    )


def test_before_and_after_the_server_imported_mistakes_a_judge_says_the_same(tmp_path: Path) -> None:
    text = (KIT / "solutions" / "memory" / "state.py").read_text(encoding="utf-8")
    submissions = [tmp_path / name / "memory" for name in "abcde"]
    for folder in submissions:
        folder.mkdir(parents=True)
        (folder / "state.py").write_text(text.replace("_size(recipe.master)", "0"), encoding="utf-8")
    order = Order(
        find_kit(KIT), tmp_path / "out", "process", bytes(32), 1, ("memory.state_bytes_per_parameter",)
    )
    rows = grade(order, [folder.parent for folder in submissions])
    (first, *others) = [untimed(row.report).exercises for row in rows if row.report is not None]
    assert len(others) == MANY_JUDGES
    assert others == [first] * MANY_JUDGES
    (exercise,) = first
    assert {check.mistake.rpartition(".")[2] for check in exercise.checks if check.hint} == {"no_master_copy"}
