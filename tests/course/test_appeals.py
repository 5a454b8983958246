"""A course whose hidden test was wrong: the appeal, the override, the regrade, and what the exports say after it."""

import csv
import io
import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.course.conftest import KIT, SAMPLES, Course, run

pytestmark = pytest.mark.course

LEFT_OUT = (
    "shape_from_parameter_count",
    "expert_parameter_counts",
    "latent_parameter_counts",
    "activation_bytes",
    "latent_kv_cache_bytes",
    "adapter_state_bytes",
    "zero_state_bytes",
    "memory_budget",
    "checkpoint",
)
COURSE_YAML = f"""
attempts: best
late: {{per_day: 0.1}}
solutions: solutions
assignments:
  memory:
    due: 2026-10-01T23:59:00+00:00
    points: {{bf16_update_lost: 10}}
    leave_out: [{", ".join(LEFT_OUT)}]
"""
WRONG_TEST = '''"""A hidden check that is wrong, as a person finds out when a student appeals."""

import pytest


@pytest.mark.exercise("memory.bf16_update_lost", weight=4)
def test_a_step_as_large_as_its_weight(submission, expect):
    """A step as large as its weight vanishes."""
    expect.equal(submission.memory.bf16_update_lost(1.0, 1.0), True)
'''
EXERCISE = "memory.bf16_update_lost"


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Course:
    """Graded with the wrong test: amara and grace in time, farid two days late, nobody else."""
    root = tmp_path_factory.mktemp("appeals") / "course"
    shutil.copytree(KIT / "solutions", root / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "course.yaml").write_text(COURSE_YAML, encoding="utf-8")
    (root / "solutions/memory/hidden/test_wrong.py").write_text(WRONG_TEST, encoding="utf-8")
    said = {"notebooks": run(root, "grader", "notebooks", ".")}
    said["generate"] = run(root, "nbgrader", "generate_assignment", "memory")
    for student, sample, at in (
        ("amara", "amara-perfect", "2026-10-01 12:00:00 UTC"),
        ("grace", "grace-constant-answers", "2026-10-01 12:00:00 UTC"),
        ("farid", "amara-perfect", "2026-10-03 12:00:00 UTC"),
    ):
        folder = root / "submitted" / student / "memory"
        shutil.copytree(SAMPLES / sample / "memory", folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "timestamp.txt").write_text(at)
    said["grade"] = run(root, "grader", "grade", "--gradebook", ".")
    assert {name: ran.code for name, ran in said.items()} == dict.fromkeys(said, 0), said
    return Course(root, said)


@pytest.fixture
def course(graded, tmp_path) -> Course:
    """A copy to change, with the test mended."""
    root = tmp_path / "course"
    shutil.copytree(graded.root, root)
    (root / "solutions/memory/hidden/test_wrong.py").unlink()
    return Course(root, graded.said)


def gradebook(course: Course) -> dict[str, tuple[float, float, float | None]]:
    """Of each student: score of the assignment, auto and manual score of the exercise."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        cell = "check-memory-bf16_update_lost"
        return {
            each.student.id: (
                round(each.score - each.late_submission_penalty, 2),
                book.find_grade(cell, "memory", "memory", each.student.id).auto_score,
                book.find_grade(cell, "memory", "memory", each.student.id).manual_score,
            )
            for each in book.assignment_submissions("memory")
        }


def table(course: Course) -> dict[str, dict[str, str]]:
    """`grader export csv` of the course, by student."""
    ran = course.run("grader", "export", "csv", ".")
    assert ran.code == 0, ran.err
    return {row["submission"]: row for row in csv.DictReader(io.StringIO(ran.out), strict=True)}


def everything(root: Path) -> dict[str, bytes]:
    """What a regrade could have written."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_grading_says_nothing_on_stderr(graded):
    assert [graded.said["grade"].err, graded.said["notebooks"].err] == ["", ""]


def test_before_writing_a_regrade_says_who_would_move_by_how_much_and_writes_nothing(course):
    before = everything(course.root)
    lost = round(45 - float(table(course)["amara"]["points"]), 2)
    assert lost > 0
    ran = course.run("grader", "regrade", ".", "--changed")
    assert (ran.code, ran.err) == (0, "")
    assert everything(course.root) == before
    lines = ran.out.splitlines()
    assert f"amara: memory +{lost:g} points" in lines
    assert f"farid: memory +{round(0.8 * lost, 2):g} points" in lines  # two days begun, a fifth is lost
    assert f"grace: memory -{lost:g} points" in lines  # her constant was what the wrong test wanted
    assert f"    {EXERCISE}: {round(10 - lost, 2):g} (failed) -> 10 (passed)" in lines
    assert lines[-1] == (
        "3 attempts graded again; 3 students would move; nothing was written, --write enters it"
    )


def test_a_regrade_that_is_written_moves_the_grades_and_an_override_stays(course):
    given = ("--points", "7.25", "--reason", "the test was wrong", "--by", "Prof. X")
    ran = course.run("grader", "override", "farid", EXERCISE, *given)
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(
        rf"farid: {EXERCISE} is 7\.25 of 10 points from now on, where the grader says [0-9.]+; "
        r"no regrade changes it\n",
        ran.out,
    )
    before = table(course)
    assert (before["farid"][EXERCISE], before["farid"]["points"]) == ("5.8", "33.8")  # 80 % of 7.25, of 42.25
    ran = course.run("grader", "regrade", ".", "--changed", "--write")
    assert (ran.code, ran.err) == (0, "")
    assert "farid: memory 0 points" in ran.out
    assert "(set by hand to 7.25, which stays)" in ran.out
    assert ran.out.endswith("2 students moved; the ledger has the new gradings, the old ones stay in it\n")
    assert len(list((course.root / "ledger/memory/amara").iterdir())) == 2
    after = table(course)
    assert (after["amara"]["points"], after["farid"]["points"], after["grace"][EXERCISE]) == (
        "45",
        "33.8",
        "0",
    )
    found = gradebook(course)
    assert found["amara"] == (45.0, 10.0, None)
    assert found["farid"] == (33.8, 10.0, 7.25)
    assert "10 / 10" in (course.root / "feedback/amara/memory/memory.html").read_text(encoding="utf-8")
    ran = course.run("grader", "regrade", ".", "--changed")
    assert (ran.code, ran.out) == (0, "nothing has changed since the last grading\n")


def test_an_override_reaches_every_export(course, tmp_path):
    given = ("--points", "7.25", "--reason", "agreed, on paper", "--by", "TA")
    assert course.run("grader", "override", "amara", EXERCISE, *given).code == 0
    assert table(course)["amara"][EXERCISE] == "7.25"
    assert table(course)["amara"]["points"] == "42.25"
    assert gradebook(course)["amara"][2] == 7.25
    canvas = list(csv.DictReader(io.StringIO(course.run("grader", "export", "canvas", ".").out)))
    assert [row["Rooflab memory"] for row in canvas if row["SIS Login ID"] == "amara"] == ["42.25"]
    for name in ("gradescope", "prairielearn", "classroom"):
        assert course.run("grader", "export", name, ".", "--out", str(tmp_path / name)).code == 0
    result = json.loads((tmp_path / "gradescope/amara/results.json").read_text(encoding="utf-8"))
    assert result["score"] == 42.25
    assert next(test["score"] for test in result["tests"] if test["name"].startswith(EXERCISE)) == 7.25
    graded = json.loads((tmp_path / "prairielearn/amara/results.json").read_text(encoding="utf-8"))
    assert graded["score"] == pytest.approx(42.25 / 45)
    suites = ElementTree.fromstring(course.run("grader", "export", "junit", ".").out)
    (suite,) = [each for each in suites if each.get("name") == "amara"]
    assert {each.get("name"): each.get("value") for each in suite.iter("property")}["points"] == "42.25"
    assert "42.25" in course.run("grader", "export", "github-summary", ".").out
    assert course.run("grader", "feedback", ".", "--out", str(tmp_path / "pages")).code == 0
    page = (tmp_path / "pages/amara/feedback.html").read_text(encoding="utf-8")
    assert "7.25 points set by hand (agreed, on paper)" in page


def test_a_decision_that_is_withdrawn_leaves_the_grader_s_points_everywhere(course):
    before = table(course)["amara"], gradebook(course)["amara"]
    said = ("--reason", "agreed", "--by", "TA")
    assert course.run("grader", "override", "amara", EXERCISE, "--points", "7.25", *said).code == 0
    ran = course.run(
        "grader", "override", "amara", EXERCISE, "--withdraw", "--reason", "a slip", "--by", "TA"
    )
    assert (ran.code, ran.err) == (0, "")
    earned = before[0][EXERCISE]
    assert ran.out == f"amara: {EXERCISE} is as graded again, {earned} of 10 points; 7.25 were given\n"
    assert (table(course)["amara"], gradebook(course)["amara"]) == before
    page = (course.root / "feedback/amara/memory/memory.html").read_text(encoding="utf-8")
    assert "set by hand" not in page
    ran = course.run("grader", "override", "amara", EXERCISE, "--withdraw", *said)
    assert (ran.code, ran.err) == (
        2,
        f"grader: amara, {EXERCISE}: no override counts, there is nothing to withdraw\n",
    )


@pytest.mark.parametrize("chosen", [(), ("--points", "7", "--withdraw")])
def test_a_decision_is_given_or_withdrawn(course, chosen):
    ran = course.run("grader", "override", "amara", EXERCISE, *chosen, "--reason", "agreed", "--by", "TA")
    assert (ran.code, ran.err) == (
        2,
        "grader: override: give --points P, or --withdraw to take a decision back\n",
    )


def test_a_replay_says_what_has_changed_and_what_moves(course):
    ran = course.run("grader", "replay", "ledger/memory/amara/0001")
    assert ran.code == 1
    assert ran.out.startswith("changed since: kit_sha256: ")
    assert re.search(rf"^{EXERCISE}: [0-9.]+ \(failed\) -> 5 \(passed\)$", ran.out, re.MULTILINE)


def test_staff_are_shown_what_was_graded_and_what_was_decided_before_what_is_asked_now(course):
    given = ("--points", "12", "--reason", "agreed", "--by", "TA")
    ran = course.run("grader", "override", "grace", EXERCISE, *given)
    assert ran.err == "12 is more than the 10 that it is worth\n"
    shown = course.run("grader", "show", "ledger/memory/grace/0001", EXERCISE)
    assert shown.code == 0, shown.err
    first, second, *_ = shown.out.splitlines()
    assert first == f"grace, attempt 1: {EXERCISE}; for staff, hidden cases included"
    assert re.fullmatch(
        r"graded 20..-..-.. ..:.. UTC: 2\.86 of 10; set by hand to 12 by TA: agreed; kit, seed or libraries have "
        r"changed since, grader replay says what and what moves",
        second,
    )
    assert "failed (hidden): " in shown.out
    assert "test_a_step_as_large_as_its_weight" not in shown.out  # it asks what is asked now


def test_what_the_ledger_has_no_files_of_is_named_and_no_grade_is_lost(course):
    before = table(course)["amara"]["points"]
    shutil.rmtree(course.root / "ledger/memory/amara/0001/files")
    ran = course.run("grader", "regrade", ".", "--changed", "--write")
    assert ran.code == 3
    assert ran.err == "not graded again: amara: memory, attempt 1: its files are not in the ledger\n"
    assert "farid: memory +" in ran.out
    assert table(course)["amara"]["points"] == before


REFUSED = {
    ("regrade", "."): "say --changed",
    ("override", "amra", EXERCISE, "--points", "1", "--reason", "r", "--by", "b"): (
        "no attempt at memory in the ledger, there are those of amara, farid, grace"
    ),
    ("override", "amara", "checkpoint", "--points", "1", "--reason", "r", "--by", "b"): (
        "memory.checkpoint: not part of this course"
    ),
    ("override", "amara", EXERCISE, "--points", "-1", "--reason", "r", "--by", "b"): "no number of points",
    ("override", "amara", EXERCISE, "--points", "nan", "--reason", "r", "--by", "b"): "no number of points",
    ("override", "amara", EXERCISE, "--points", "1", "--reason", " ", "--by", "b"): "--reason and --by",
    ("show", "ledger/memory/amara", EXERCISE): "ledger/memory/amara: which attempt? there are 0001",
    ("show", "ledger/memory", EXERCISE): "no entry of a ledger",
    ("show", "ledger/memory/amara/0001", "roofline.fusion"): "is of memory",
    ("replay", "ledger/memory/amara/0009"): "no entry of a ledger",
}


@pytest.mark.parametrize("words", REFUSED)
def test_is_refused_in_one_line_and_nothing_is_written(words, graded):
    before = everything(graded.root)
    ran = graded.run("grader", *words)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert REFUSED[words] in ran.err
    assert everything(graded.root) == before
