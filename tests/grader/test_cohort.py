"""What a cohort refuses before any judge starts, and what counts as graded."""

import os
import signal
from pathlib import Path

import pytest

from grader import cohort
from grader.judges import Order
from grader.kit import Kit
from grader.report import (
    CheckResult,
    Environment,
    ExerciseResult,
    GradeReport,
    Outcome,
    SubmissionInfo,
)
from grader.seeds import SeedUnreadable, course_seed
from grader.summary import Row, note_on

ROOT = Path(__file__).resolve().parents[2]


def order(out: Path) -> Order:
    return Order(Kit(ROOT, ROOT / "solutions"), out, "process", b"s" * 32, 1)


def submission(folder: Path) -> Path:
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "state.py").write_text("x = 1\n")
    return folder


def test_a_folder_is_free_when_its_cohort_has_ended(tmp_path):
    """A process that another thread is starting has a copy of all that is open, the lock too, until it is through."""
    with cohort._folder_of_our_own(tmp_path):
        copy = fork_that_waits()
    try:
        with cohort._folder_of_our_own(tmp_path):
            pass
    finally:
        os.kill(copy, signal.SIGKILL)
        os.waitpid(copy, 0)


def fork_that_waits() -> int:
    child = os.fork()
    if not child:
        signal.pause()
        os._exit(0)
    return child


@pytest.mark.parametrize("out", ["subs", "subs/eve", "subs/eve/memory"])
def test_no_report_that_was_handed_in_is_taken_for_a_grade(tmp_path, out):
    eve = submission(tmp_path / "subs" / "eve")
    with pytest.raises(cohort.CohortRefused, match="among what was handed in"):
        cohort.grade(order(tmp_path / out), [eve])


def test_a_link_in_the_output_folder_that_leads_into_the_submission_is_seen_through(tmp_path):
    eve = submission(tmp_path / "subs" / "eve")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "eve").symlink_to(eve)
    with pytest.raises(cohort.CohortRefused, match="among what was handed in"):
        cohort.grade(order(tmp_path / "out"), [eve])


def test_two_of_one_id_are_refused_both_and_stop_nobody_else(tmp_path):
    paths = [submission(tmp_path / "x" / "bob"), submission(tmp_path / "y" / "Bob"), tmp_path / "z.zip"]
    paths[2].write_text("no zip")
    rows = cohort.grade(order(tmp_path / "out"), paths)
    assert [row.report for row in rows] == [None, None, None]
    assert "same id" in rows[0].note
    assert "same id" in rows[1].note
    assert "zip" in rows[2].note


def test_a_lock_that_is_a_link_empties_nothing(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "keep").write_text("kept")
    (tmp_path / "out" / ".lock").symlink_to(tmp_path / "keep")
    with pytest.raises(cohort.CohortRefused, match="cannot be written"):
        cohort.grade(order(tmp_path / "out"), [submission(tmp_path / "bob")])
    assert (tmp_path / "keep").read_text() == "kept"


def report(*outcomes: Outcome, missing: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> GradeReport:
    exercises = tuple(
        ExerciseResult(
            id=f"memory.e{index}",
            title="",
            outcome=outcome,
            points=0,
            max_points=1,
            checks=(CheckResult(name="t", claim="c", outcome=outcome),),
        )
        for index, outcome in enumerate(outcomes)
    )
    return GradeReport(
        kind="official",
        submission=SubmissionInfo(id="a", missing=missing, notes=notes),
        environment=Environment(isolation="sandbox", kit_version="0"),
        exercises=exercises,
    )


def test_a_report_of_nothing_but_our_own_errors_is_no_grade():
    assert not Row("a", report(Outcome.GRADER_ERROR, Outcome.GRADER_ERROR), "").graded
    assert Row("a", report(Outcome.GRADER_ERROR, Outcome.FAILED), "").graded


def test_what_was_left_out_is_noted_where_a_file_is_missing():
    left_out = ("memory/State.py: is not memory/state.py",)
    assert "State.py" in note_on(report(Outcome.FAILED, missing=("memory/state.py",), notes=left_out))
    assert note_on(report(Outcome.FAILED, notes=left_out)) == ""


def test_the_seed_is_drawn_once_and_kept(tmp_path):
    path = tmp_path / "new" / "course-seed"
    seed = course_seed(path)
    assert len(seed) == 32
    assert course_seed(path) == seed
    assert [each.name for each in path.parent.iterdir()] == ["course-seed"]
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", ["", "abc", "00" * 31])
def test_a_damaged_seed_is_refused_and_not_replaced(tmp_path, content):
    path = tmp_path / "course-seed"
    path.write_text(content)
    with pytest.raises(SeedUnreadable, match="backup"):
        course_seed(path)
    assert path.read_text() == content
