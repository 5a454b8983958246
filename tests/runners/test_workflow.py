"""The workflow of official gradings: who can start it, what a submission can reach, what happens when a card fails.

Its scripts are run here with a grader that only writes reports; GitHub itself has not run it yet.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from grader.cli import app
from grader.report import read_report
from tests.runners.staged import SHELLCHECK, fake_grader, submissions

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "grade.yml").read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
SCRIPTS = [step["run"] for step in STEPS if "run" in step]


def script(job, words):
    """The one script of a job whose step's name has these words."""
    [found] = [step["run"] for step in JOBS[job]["steps"] if words in step.get("name", "")]
    return found


def test_nothing_that_a_student_does_starts_it():
    """YAML reads `on` as true."""
    assert set(WORKFLOW[True]) == {"workflow_dispatch"}
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_submissions_are_data_beside_the_kit_and_come_without_a_token():
    checkouts = [step["with"] for step in STEPS if step.get("uses", "").startswith("actions/checkout")]
    assert all(each["persist-credentials"] is False for each in checkouts)
    theirs = [each for each in checkouts if "repository" in each]
    assert len(theirs) == 2
    assert all(each["path"] == "submissions" for each in theirs)
    assert not any(re.search(r"submissions/\S*\.(py|sh|ya?ml)", each) for each in SCRIPTS)


def test_nothing_is_pasted_into_a_script():
    """What somebody types as an input would be run by the shell."""
    assert not [each for each in SCRIPTS if "${{" in each]


def test_a_gpu_is_asked_only_for_the_plausible_one_run_at_a_time_and_none_is_dropped():
    timing = JOBS["timing"]
    assert timing["needs"] == "correctness"
    assert "plausible == 'yes'" in timing["if"]
    assert timing["concurrency"] == {"group": "rooflab-gpu", "queue": "max"}
    assert [name for name, job in JOBS.items() if "self-hosted" in job["runs-on"]] == ["timing"]
    assert "--jobs 1" in script("timing", "Time the plausible")


def test_every_job_has_an_end():
    assert all(job["timeout-minutes"] for job in JOBS.values())


def test_every_command_and_option_that_it_gives_exists():
    commands = get_command(app).commands
    used = re.findall(r"\.venv/bin/grader ([a-z]+)([^|>\n]*)", "\n".join(SCRIPTS))
    assert len(used) >= 6
    for name, rest in used:
        known = {option for each in commands[name].params for option in each.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known, name


@pytest.mark.parametrize("text", SCRIPTS)
def test_every_script_is_sound(text):
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    if SHELLCHECK:
        command = [SHELLCHECK, "-s", "bash", "-"]
        found = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert found.stdout == ""


@pytest.fixture
def runner(tmp_path):
    """A machine of GitHub's: each script in bash as the runner starts it, in a checkout."""
    fake_grader(tmp_path / ".venv" / "bin")
    for name in ("output", "summary"):
        (tmp_path / name).touch()

    def run(text, **environment):
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
            cwd=tmp_path,
            env={
                **os.environ,
                **WORKFLOW["env"],
                **environment,
                "GITHUB_OUTPUT": str(tmp_path / "output"),
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            },
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def both_stages(runner, folder):
    """All scripts from grading to report, with artifacts carried from job to job; the last one's result."""
    for words in ("Grade all", "Who is worth"):
        done = runner(script("correctness", words))
        assert done.returncode == 0, done.stderr
    (folder / "correctness").mkdir()
    (folder / "grades").rename(folder / "correctness" / "grades")
    (folder / "plausible.txt").rename(folder / "correctness" / "plausible.txt")
    if "plausible=yes" in (folder / "output").read_text():
        done = runner(script("timing", "Time the plausible"))
        assert done.returncode == 0, done.stderr
    return runner(script("report", "Both stages"))


def test_a_card_that_fails_leaves_points_pending_and_staff_a_warning(runner, tmp_path):
    submissions(tmp_path / "submissions", ada="right", bob="wrong", dora="lost")
    done = both_stages(runner, tmp_path)
    assert done.returncode == 0, done.stderr
    points = {
        path.parent.name: (read_report(path).points, read_report(path).pending_points)
        for path in (tmp_path / "grades").glob("*/report.json")
    }
    assert points == {"ada": (35, 0), "bob": (0, 15), "dora": (20, 15)}
    assert re.search(r"^::notice title=ada::35 of 35", done.stdout, re.MULTILINE)
    assert re.search(r"^::warning title=dora::20 of 35 points, 15 pending", done.stdout, re.MULTILINE)
    assert "| dora | provisional | 20 of 35 | 15 | pending |" in (tmp_path / "summary").read_text()


def test_without_a_right_kernel_no_gpu_is_asked_for(runner, tmp_path):
    submissions(tmp_path / "submissions", bob="wrong")
    for words in ("Grade all", "Who is worth"):
        done = runner(script("correctness", words))
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text() == ""


def test_without_the_course_s_seed_nothing_is_graded(runner, tmp_path):
    done = runner(script("correctness", "seed"), COURSE_SEED="")
    assert done.returncode == 1
    assert "::error::set the secret COURSE_SEED" in done.stdout
    done = runner(script("correctness", "seed"), COURSE_SEED="5eed")
    assert done.returncode == 0
    assert (tmp_path / ".rooflab" / "course-seed").read_text() == "5eed\n"
    assert (tmp_path / ".rooflab" / "course-seed").stat().st_mode & 0o077 == 0
