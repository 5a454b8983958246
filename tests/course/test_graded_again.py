"""`grader grade --gradebook` says how many it graded again though nobody handed in anything else, and why."""

import pytest

from grader import cohort
from grader.commands.gradebook import _conclude
from grader.course.grading import Item, course_here, grade_items
from grader.report import GradeReport
from tests.exports.sample_reports import check, exercise

FILE = "memory/state.py"


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Grades what lies in the course, with a judge that finds everything right, and gives the line about it."""

    def judged(order, staged, info, scratch, current, *rest):
        found = (exercise("memory.parameter_count", 15, 15, check()),)
        return GradeReport(kind="official", submission=info, environment=current, exercises=found)

    monkeypatch.setattr(cohort, "run_judge", judged)

    def grade():
        course = course_here(tmp_path)
        items = [Item(path.name, "files", path) for path in sorted((tmp_path / "in").iterdir())]
        _conclude(course, grade_items(course, "memory", items), False)
        (line,) = [each for each in capsys.readouterr().out.splitlines() if "graded" in each]
        return line.partition("; isolation")[0]

    return grade


def test_another_seed_is_said_with_its_count_and_another_hand_in_is_none(said, tmp_path):
    (tmp_path / "seed").write_text("5a" * 32)
    others = [each.id for each in course_here(tmp_path).kit.available()["memory"].exercises]
    others.remove("parameter_count")
    left_out = f"{{memory: {{leave_out: [{', '.join(others)}]}}}}"
    (tmp_path / "course.yaml").write_text(f"seed_file: seed\nisolation: process\nassignments: {left_out}\n")
    for student in ("ada", "ben"):
        (tmp_path / "in" / student / "memory").mkdir(parents=True)
        (tmp_path / "in" / student / FILE).write_text("x = 1\n")
    assert said() == said() == "2 of 2 graded"
    (tmp_path / "seed").write_text("5b" * 32)
    (tmp_path / "in" / "ben" / FILE).write_text("x = 2\n")
    assert said() == (
        "2 of 2 graded (1 graded again: the kit, the seed, libraries or the isolation level have changed)"
    )
    assert said() == "2 of 2 graded"
