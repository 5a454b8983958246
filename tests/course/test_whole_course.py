"""A course from its first command to its exports: eight students, each with the grade that is theirs."""

import csv
import io
import json
import shutil

import pytest

from grader.notebooks.source import exercise_of

pytestmark = pytest.mark.course

FULL = 105.0  # parameter_count is worth 20 in this course
EXTRA = 10.0  # without checkpoint


def gradebook(root):
    """The course's gradebook; imported here, since the other tests are collected with these and need none."""
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{root}/gradebook.db")


def scores(root, assignment="memory"):
    """Score, late penalty and whether a person is needed, by student."""
    with gradebook(root) as book:
        return {
            each.student.id: (
                round(each.score, 2),
                round(each.late_submission_penalty, 2),
                each.needs_manual_grade,
            )
            for each in book.assignment_submissions(assignment)
        }


def grades(root, student, assignment="memory"):
    """(auto, manual, whether a person is needed) by exercise."""
    with gradebook(root) as book:
        notebook = book.find_submission_notebook(assignment, assignment, student)
        return {
            exercise_of(each.name): (each.auto_score, each.manual_score, each.needs_manual_grade)
            for each in notebook.grades
        }


def test_every_command_did_what_it_says(course):
    assert {name: ran.code for name, ran in course.said.items()} == {
        "notebooks": 0,
        "generate memory": 0,
        "generate profiling": 0,
        "collect": 3,  # a stranger is not on the roster
        "grade": 0,
        "again": 0,
        "autograde": 0,
        "feedback": 0,
        "export": 0,
    }, {name: ran.err[-1500:] for name, ran in course.said.items() if ran.code not in (0, 3)}


def test_collecting_lists_who_is_nobody_and_who_sent_nothing(course):
    said = course.said["collect"]
    assert "not on the roster: stranger" in said.err
    assert "no submission: Nobody" in said.err
    assert "amara: 1 file, handed in 2026-10-01 12:00 UTC" in said.out
    assert "grace: 1 file, handed in 2026-10-02 12:00 UTC, again" in course.said["again"].out


def test_everybody_has_the_grade_that_is_theirs(course):
    found = scores(course.root)
    assert found["amara"] == (FULL + EXTRA, 0.0, False)
    assert found["ben"] == (FULL + EXTRA - 20, 0.0, False)  # two days after the date, within his extension
    assert found["chiara"] == (FULL + EXTRA - 15, 0.0, False)  # the cache, and its extra credit
    assert found["farid"] == (FULL + EXTRA, round(0.2 * (FULL + EXTRA), 2), False)  # two days late, begun
    assert found["hiro"] == (0.0, 0.0, False)
    assert 0 < found["elif"][0] < FULL
    assert scores(course.root, "profiling")["amara"] == (50.0, 0.0, False)


def test_the_better_attempt_of_two_counts_and_both_stay_in_the_ledger(course):
    assert scores(course.root)["grace"] == (FULL + EXTRA, round(0.1 * (FULL + EXTRA), 2), False)
    assert sorted(path.name for path in (course.root / "ledger/memory/grace").iterdir()) == ["0001", "0002"]


def test_a_forger_loses_the_exercise_that_he_forged_and_no_other_grade_moves(course):
    found = grades(course.root, "dmitri")
    assert found["memory.state_bytes_per_parameter"][0] == 0
    assert found["memory.parameter_count"][0] == 20
    assert scores(course.root)["dmitri"][0] == FULL + EXTRA - 10


def test_files_alone_have_a_row_a_notebook_of_results_and_a_page(course):
    shown = json.loads((course.root / "autograded/elif/memory/memory.ipynb").read_text(encoding="utf-8"))
    cells = {
        exercise_of(cell["metadata"].get("nbgrader", {}).get("grade_id", "")): cell for cell in shown["cells"]
    }
    assert "memory.parameter_count" in "".join(
        cells["memory.parameter_count"]["outputs"][0]["data"]["text/html"]
    )
    page = (course.root / "feedback/elif/memory/memory.html").read_text(encoding="utf-8")
    assert "Handed in as files: activations.py" in page


def test_a_page_says_what_is_wrong_and_gives_no_hidden_case_away(course):
    page = (course.root / "feedback/ben/memory/memory.html").read_text(encoding="utf-8")
    assert "token_embedding" in page
    report = json.loads((course.root / "ledger/memory/ben/0001/report.json").read_text(encoding="utf-8"))
    names = [check["name"] for each in report["exercises"] for check in each["checks"] if check["hidden"]]
    assert names
    assert not [name for name in names if name in page]
    assert "random-" not in page


def test_a_page_of_a_late_notebook_says_why_its_points_are_not_its_score(course):
    page = (course.root / "feedback/farid/memory/memory.html").read_text(encoding="utf-8")
    rule = "20 % taken off (10 % for each day begun, none within 15 min, 50 % at most)"
    assert f"{rule}: 23 of 115 points lost; the points beside the exercises are those before it." in page
    assert "Late submission penalty (Score: -23.0)" in page


def test_exports_have_the_points_and_the_late_penalty_and_no_shifted_column(course):
    ran = course.run("grader", "export", "canvas", ".", "--roster", "roster.csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    found = {row["SIS Login ID"]: row["Rooflab memory"] for row in rows if row["SIS Login ID"]}
    assert found["amara"] == "115"
    assert found["farid"] == "92"
    assert found["grace"] == "103.5"
    assert found["nobody"] == ""
    assert {row["Student"] for row in rows} >= {"Okafor, Amara", "O'Neil, Jr., Chiara", "'=Dmitri", "Elif 🎓"}
    assert "no submission: Nobody" in ran.err
    assert "amara,,,,115.0,0.0,115.0,105.0" in (course.root / "grades.csv").read_text(encoding="utf-8")


def test_feedback_is_a_page_each_in_a_zip(course, tmp_path):
    ran = course.run("grader", "feedback", ".", "--out", str(tmp_path), "--zip")
    assert ran.code == 0, ran.err
    assert (tmp_path / "feedback.zip").is_file()
    assert "20 % taken off" in (tmp_path / "farid" / "feedback.md").read_text(encoding="utf-8").replace(
        "\\", ""
    )


@pytest.fixture
def own_course(course, tmp_path):
    """A copy to change."""
    root = tmp_path / "course"
    shutil.copytree(course.root, root)
    return type(course)(root, course.said)


def test_a_manual_score_and_extra_credit_of_an_instructor_survive_autograding(own_course):
    with gradebook(own_course.root) as book:
        grade = book.find_grade("check-memory-parameter_count", "memory", "memory", "ben")
        grade.manual_score, grade.extra_credit = 13.0, 2.0
        book.db.commit()
    ran = own_course.run("nbgrader", "autograde", "memory", "--student", "ben", "--force")
    assert ran.code == 0, ran.err
    assert grades(own_course.root, "ben")["memory.parameter_count"][:2] == (0.0, 13.0)
    assert scores(own_course.root)["ben"][0] == FULL + EXTRA - 20 + 13 + 2


def test_an_override_reaches_gradebook_and_exports_and_survives_a_regrade(own_course):
    given = ("--points", "12", "--reason", "only the embedding", "--by", "TA")
    ran = own_course.run("grader", "override", "ben", "parameter_count", *given)
    assert ran.code == 0, ran.err
    ran = own_course.run("grader", "grade", "--gradebook", ".")
    assert ran.code == 0, ran.err
    assert grades(own_course.root, "ben")["memory.parameter_count"][:2] == (0.0, 12.0)
    exported = own_course.run("grader", "export", "csv", ".").out
    (row,) = [row for row in csv.DictReader(io.StringIO(exported)) if row["submission"] == "ben"]
    assert row["memory.parameter_count"] == "12"
    page = (own_course.root / "feedback/ben/memory/memory.html").read_text(encoding="utf-8")
    assert "12 points set by hand (only the embedding)" in page


def test_staff_see_the_hidden_input_and_a_replay_gives_the_same_grade(course):
    shown = course.run("grader", "show", "ledger/memory/ben/0001", "parameter_count")
    assert shown.code == 0, shown.err
    assert "failed (hidden)" in shown.out
    assert "called parameter_count(Model(name='random-0'" in shown.out
    assert "expected" in shown.out.partition("failed (hidden)")[2]
    replayed = course.run("grader", "replay", "ledger/memory/ben/0001")
    assert replayed.code == 0, replayed.out + replayed.err
    assert "the same grade again" in replayed.out


def test_what_could_not_be_graded_needs_a_person_and_is_no_zero(own_course):
    broken = own_course.root / "ledger/memory/ben/0001/report.json"
    report = json.loads(broken.read_text(encoding="utf-8"))
    report["error"], report["exercises"] = "the judge was killed", []
    broken.write_text(json.dumps(report), encoding="utf-8")
    from grader.course.gradebook import opened, save
    from grader.course.grading import course_here
    from grader.course.ledger import read_grading

    course = course_here(own_course.root)
    with opened(course) as book:
        save(book, course, read_grading(broken.parent))
    found = grades(own_course.root, "ben")
    assert set(found.values()) == {(None, None, True)}
