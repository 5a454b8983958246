"""Whatever a worker starts ends with it, and it ends with its judge."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.sandbox import Level, Limits

Start = Callable[..., Any]
Marked = Callable[[str], list[int]]

DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stay()
    os._exit(0)
os.wait()
"""


def test_a_daemon_with_signals_blocked_goes_with_the_worker(start: Start, level: Level) -> None:
    worker = start(DAEMON + "say('ready'); stay()", level)
    worker.hear()
    assert len(worker.processes()) >= 2
    worker.confined.kill()
    assert worker.processes() == []


def test_a_daemon_does_not_outlive_a_worker_that_ends_by_itself(start: Start, level: Level) -> None:
    worker = start(DAEMON + "say('ready'); os._exit(3)", level)
    assert worker.confined.wait(5) == 3
    assert worker.is_gone()
    assert worker.confined.killed_because is None


def test_an_orphan_that_nobody_saw_with_its_parents_is_found(start: Start, level: Level) -> None:
    # Each generation leaves its parent at once and moves to a session of its own.
    code = """
    def run_away(generations):
        if os.fork() == 0:
            os.setsid()
            run_away(generations - 1) if generations else stay()
        os._exit(0)
    run_away(20)
    """
    worker = start(code, level)
    worker.confined.wait(5)
    assert worker.is_gone()


def test_a_runaway_worker_is_killed_while_it_forks(start: Start, level: Level) -> None:
    worker = start("say('ready'); fork_for_ever()", level, Limits(processes=1000))
    worker.hear()
    worker.confined.kill()
    assert worker.processes() == []


def test_killing_twice_is_harmless_and_says_nothing_of_limits(start: Start, level: Level) -> None:
    worker = start("stay()", level)
    worker.confined.kill()
    worker.confined.kill()
    assert worker.confined.poll() not in (None, 0)
    assert worker.confined.killed_because is None


def test_the_temporary_folder_goes_however_it_was_left(start: Start) -> None:
    code = """
    say(os.environ["HOME"])
    for _ in range(1200):
        os.mkdir("deep"); os.chdir("deep")
    os.chmod(os.environ["HOME"] + "/deep", 0)
    say("done")
    stay()
    """
    worker = start(code, "process")
    home = Path(str(worker.hear()))
    assert home.is_dir()
    worker.hear()
    worker.confined.kill()
    assert not home.exists()


def test_workers_of_one_judge_leave_each_other_alone(start: Start, level: Level) -> None:
    workers = [start("say('ready'); stay()", level) for _ in range(3)]
    for worker in workers:
        worker.hear()
    workers[0].confined.kill()
    time.sleep(0.1)
    assert [worker.confined.poll() is None for worker in workers] == [False, True, True]


def test_a_worker_whose_judge_is_already_gone_ends_at_once() -> None:
    code = "import sys; from grader.worker import limits; limits.apply(sys.argv[1]); print('lives on')"
    root = Path(__file__).parents[3]
    told = Limits().worker_json(judge_pid=1)  # not its parent
    ended = subprocess.run([sys.executable, "-c", code, told], cwd=root, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")


JUDGE = """
import socket, sys, time
from pathlib import Path
from grader.sandbox import launch
level, folder, mark = sys.argv[1:]
ours, theirs = socket.socketpair()
launch(level, kit=Path(folder, "kit"), submission=Path(folder, "submission"), entry="worker/serve.py",
       wire=theirs, argv=("--mark", mark))
print(ours.recv(100), flush=True)
time.sleep(60)
"""


def test_a_killed_judge_takes_its_worker_along(
    tmp_path: Path, stage: Callable[[str], Path], marked: Marked, level: Level
) -> None:
    stage("say('ready'); stay()")
    mark = uuid.uuid4().hex
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", JUDGE, level, str(tmp_path), mark]
    environment = {**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as judge:
        assert judge.stdout is not None
        assert b"ready" in judge.stdout.readline()
        assert len(marked(mark)) >= 2
        judge.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while marked(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert marked(mark) == []
