"""`grader export nbgrader`: reports in a real gradebook, read back through nbgrader's own API."""

import csv
import io
import shutil

import pytest

from grader.report import Outcome, SubmissionInfo
from tests.course.conftest import Course, run
from tests.exports.sample_reports import check, exercise, report, written

pytestmark = pytest.mark.course

COUNT, CACHE = "memory.parameter_count", "memory.kv_cache_bytes"
COURSE_YAML = """
assignments:
  memory:
    points: {parameter_count: 20}
    leave_out: [state_bytes_per_parameter, bf16_update_lost, shape_from_parameter_count, expert_parameter_counts,
      latent_parameter_counts, activation_bytes, latent_kv_cache_bytes, adapter_state_bytes, zero_state_bytes,
      memory_budget, checkpoint]
  profiling:
    leave_out: [busy_intervals, step_breakdown, remedy, achieved_mfu, kernel_efficiency]
"""
ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section,submission
"O'Neil, Jr., Chiara",1,u1,chiara,A,"O'Neil, Jr."
"Zoë ""Z"" 🦉",2,u2,zoë,A,
=cmd|' /C calc'!A1,3,u3,dmitri,A,=dmitri
Pending,4,u4,pending,A,
Ungraded,5,u5,ungraded,A,
"Nobody, Jr.",9,u9,nobody,A,
"""
POINTS = {"O_Neil_ Jr": (3.333333, 2.675), "zoë": (1.875, 9.995), "_dmitri": (0.0, 10.0)}
"""Of the kit's 15 points and 10, by the id that a submission called like the roster's student has in its report."""


def graded(name, count, cache, **more):
    """A report whose submission has files of memory, and none of profiling, whose points are 0 for that."""
    info = SubmissionInfo(
        id=name, sha256=f"sha of {name}", files=("memory/parameters.py", "memory/budget.py")
    )
    return report(
        name,
        exercise(COUNT, count, 15, check(Outcome.FAILED), outcome=Outcome.FAILED),
        cache,
        exercise("profiling.classify_kernel", 0, 10, check(Outcome.TODO), outcome=Outcome.TODO),
        submission=info,
        **more,
    )


def cache(points, **more):
    given = {"outcome": Outcome.FAILED, **more}
    return exercise(CACHE, points, 10, check(given["outcome"]), **given)


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Course:
    """A course of two assignments without a submission, and a folder of grades beside it."""
    root = tmp_path_factory.mktemp("reports") / "course"
    root.mkdir()
    (root / "course.yaml").write_text(COURSE_YAML, encoding="utf-8")
    said = {"notebooks": run(root, "grader", "notebooks", ".")}
    for name in ("memory", "profiling"):
        said[name] = run(root, "nbgrader", "generate_assignment", name)
    assert [ran.code for ran in said.values()] == [0, 0, 0], said
    return Course(root, said)


@pytest.fixture
def course(released, tmp_path) -> Course:
    """A copy to write into, with the roster and the reports."""
    root = tmp_path / "course"
    shutil.copytree(released.root, root)
    (root / "roster.csv").write_text(ROSTER, encoding="utf-8")
    waits = cache(0.0, outcome=Outcome.NEEDS_TRITON, pending_points=10.0)
    written(
        tmp_path / "grades",
        *(graded(name, count, cache(points)) for name, (count, points) in POINTS.items()),
        graded("pending", 15.0, waits),
        report("ungraded", error="the judge was killed"),
        graded("stranger", 15.0, cache(10.0, outcome=Outcome.PASSED)),
    )
    return Course(root, {})


def gradebook(course):
    """By assignment and student: score, whether a person is needed, and (auto, manual, person) of each exercise."""
    from nbgrader.api import Gradebook

    from grader.notebooks.source import exercise_of

    found = {}
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        for name in ("memory", "profiling"):
            for each in book.assignment_submissions(name):
                cells = {
                    exercise_of(grade.name): (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                    for notebook in each.notebooks
                    for grade in notebook.grades
                }
                found[name, each.student.id] = (round(each.score, 2), each.needs_manual_grade, cells)
    return found


def export(course, *more):
    return course.run("grader", "export", "nbgrader", "../grades", "--out", ".", *more)


def test_every_score_is_in_the_gradebook_and_pending_or_ungraded_is_no_zero(course):
    ran = export(course, "--roster", "roster.csv")
    assert ran.code == 3
    assert ran.out == "memory: 5 students\nin ./gradebook.db, pages in feedback/<student>/\n"
    assert ran.err.splitlines() == [
        "pending: Pending (pending): 10 points",
        "not graded: Ungraded (ungraded): the judge was killed",
        "no submission: Nobody, Jr.",
        "not on the roster: stranger (left out)",
    ]
    found = gradebook(course)
    assert set(found) == {
        ("memory", each) for each in ("O_Neil_ Jr", "zoë", "_dmitri", "pending", "ungraded")
    }  # nobody has a row of profiling, of which nobody handed in a file
    for name, (count, cache_points) in POINTS.items():
        score, person, cells = found["memory", name]
        assert score == float(f"{20 / 15 * count + cache_points:.2f}")
        assert not person
        assert cells[COUNT] == (pytest.approx(20 / 15 * count, abs=1e-6), None, False)
        assert cells[CACHE] == (pytest.approx(cache_points, abs=1e-6), None, False)
    assert found["memory", "pending"][1:] == (
        True,
        {COUNT: (20.0, None, False), CACHE: (None, None, True)},
    )
    assert found["memory", "ungraded"][1:] == (
        True,
        {COUNT: (None, None, True), CACHE: (None, None, True)},
    )
    for student in POINTS:
        assert (course.root / "feedback" / student / "memory" / "memory.html").is_file()


def test_the_table_of_the_course_says_the_same_and_shifts_no_column(course):
    export(course, "--roster", "roster.csv")
    ran = course.run("grader", "export", "csv", ".", "--roster", "roster.csv")
    rows = {row["sis_login_id"]: row for row in csv.DictReader(io.StringIO(ran.out), strict=True)}
    assert not [row for row in rows.values() if None in row or None in row.values()]
    for login, name in (("chiara", "O_Neil_ Jr"), ("zoë", "zoë"), ("dmitri", "_dmitri")):
        assert float(rows[login]["points"]) == gradebook(course)["memory", name][0]
    assert rows["chiara"]["student"] == "O'Neil, Jr., Chiara"
    assert (rows["pending"][CACHE], rows["ungraded"]["points"], rows["nobody"]["points"]) == (
        "pending",
        "",
        "",
    )


def test_a_second_time_changes_nothing_and_what_a_person_gave_stays(course):
    from nbgrader.api import Gradebook

    export(course, "--roster", "roster.csv")
    before = gradebook(course)
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        grade = book.find_grade("check-memory-kv_cache_bytes", "memory", "memory", "pending")
        grade.manual_score, grade.needs_manual_grade = 6.5, False
        book.db.commit()
    assert export(course, "--roster", "roster.csv").code == 3
    after = gradebook(course)
    assert after.pop(("memory", "pending"))[0] == 26.5
    before.pop(("memory", "pending"))
    assert after == before
    assert len(list((course.root / "ledger/memory/zoë").iterdir())) == 1


def test_without_a_roster_everybody_is_called_as_the_submission_is(course):
    ran = export(course)
    assert ran.code == 3  # one is ungraded
    assert gradebook(course)["memory", "stranger"][0] == 30


def test_it_wants_a_course_and_reports_of_its_assignments(course, tmp_path):
    assert "name it with --out COURSE_DIR" in course.run("grader", "export", "nbgrader", "../grades").err
    other = SubmissionInfo(id="ada", files=("roofline/costs.py",))
    written(tmp_path / "other", report("ada", exercise("roofline.fusion", 1, 10, check()), submission=other))
    ran = course.run("grader", "export", "nbgrader", "../other", "--out", ".")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "none of these reports is of an assignment of this course" in ran.err
