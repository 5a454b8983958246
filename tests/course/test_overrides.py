"""Decisions of a person: what is written and read back, and what is refused before anything is written."""

import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.commands import appeals
from grader.commands.appeals import override, withdraw
from grader.course.gradebook import take_back
from grader.course.grading import course_here
from grader.course.ledger import Override, append_override, gradings, overrides, record
from grader.course.regrading import Regrade, Regraded
from grader.course.settings import Course
from grader.refusal import BadInput
from tests.exports.sample_reports import check, exercise, report

ID = "memory.parameter_count"
AT = datetime(2026, 10, 1, tzinfo=UTC)


@pytest.fixture
def course(tmp_path) -> Course:
    """ada has 5 of 10 points; no gradebook."""
    (tmp_path / "course.yaml").write_text("assignments: {memory: }\n")
    course = course_here(tmp_path)
    record(course, "memory", report("ada", exercise(ID, 5, 10, check())), "files", None, None)
    return course


def decide(course: Course, student: str = "ada", reason: str = "agreed", by: str = "TA") -> int:
    return override(course.root, student, ID, 7.0, reason, by)


def lines(course: Course) -> Path:
    return course.root / "ledger" / "overrides.jsonl"


def decision(reason: str) -> Override:
    return Override(student="ada", exercise=ID, points=7, reason=reason, by="TA", at=AT)


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x1c", "\r", "\n"])
def test_a_reason_may_hold_what_python_takes_for_the_end_of_a_line(character, course):
    reason = f"on paper{character}and by mail"
    assert decide(course, reason=reason) == 0
    assert decide(course, reason=reason) == 0
    assert overrides(course)["ada", ID].reason == reason


def test_a_line_that_was_cut_short_damages_only_itself(course):
    append_override(course, decision("first"))
    whole = lines(course).read_bytes()
    lines(course).write_bytes(whole + whole[:40])
    append_override(course, decision("second"))
    with pytest.raises(BadInput, match="line 2: damaged"):
        overrides(course)
    first, _, *rest = lines(course).read_bytes().split(b"\n")
    lines(course).write_bytes(b"\n".join((first, *rest)))
    assert overrides(course)["ada", ID].reason == "second"


def test_bytes_that_are_no_text_are_damage_and_no_traceback(course):
    append_override(course, decision("first"))
    lines(course).write_bytes(lines(course).read_bytes().replace(b"first", b"fi\xffst"))
    with pytest.raises(BadInput, match="line 1: damaged"):
        overrides(course)


@pytest.mark.parametrize("option", ["reason", "by"])
def test_a_word_of_the_command_line_that_is_no_text_is_refused(option, course):
    with pytest.raises(BadInput, match=rf"^--{option} .*: not UTF-8, write it anew$"):
        decide(course, **{option: "a\udcffb"})
    assert not lines(course).exists()


@pytest.mark.parametrize("student", ["ada/", "../memory/ada", "./ada", "ADA", "ad?", "", ".", "bea"])
def test_what_is_no_student_s_id_is_refused_although_it_leads_to_a_folder(student, course):
    with pytest.raises(BadInput, match=r"no attempt at memory in the ledger, there are those of ada$"):
        decide(course, student)
    assert not lines(course).exists()


def test_a_decision_after_one_that_was_withdrawn_counts(course):
    decide(course)
    assert withdraw(course.root, "ada", ID, "a slip", "TA") == 0
    assert overrides(course) == {}
    assert decide(course, reason="agreed after all") == 0
    assert overrides(course)["ada", ID].reason == "agreed after all"
    assert len(lines(course).read_text().splitlines()) == 3  # nothing that was decided is forgotten


def test_what_was_never_decided_cannot_be_withdrawn(course):
    with pytest.raises(BadInput, match=r"^ada, memory\.parameter_count: no override counts"):
        withdraw(course.root, "ada", ID, "a slip", "TA")
    assert not lines(course).exists()


@pytest.mark.parametrize(("score", "left"), [(7.0, None), (9.0, 9.0), (None, None)])
def test_what_an_instructor_gave_in_the_gradebook_stays_when_a_decision_is_taken_back(score, left):
    grades = {name: SimpleNamespace(manual_score=score) for name in ("parameter_count", "kv_cache_bytes")}
    cells = [SimpleNamespace(name=f"check-memory-{name}") for name in grades]
    book = SimpleNamespace(
        find_notebook=lambda notebook, assignment: SimpleNamespace(grade_cells=cells),
        find_grade=lambda cell, notebook, assignment, student: grades[cell.removeprefix("check-memory-")],
        db=SimpleNamespace(commit=lambda: None),
    )
    take_back(book, "memory", decision("a slip"))
    assert grades["parameter_count"].manual_score == left
    assert grades["kv_cache_bytes"].manual_score == score


@pytest.fixture(scope="module")
def empty_gradebook(tmp_path_factory) -> Path:
    """A gradebook without an assignment, made once: alembic takes ten seconds for it."""
    gradebook = pytest.importorskip("nbgrader.api", reason="no nbgrader: a gradebook was NOT tried")
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    with pytest.MonkeyPatch.context() as patch:
        # As in an activated environment: nbgrader looks for alembic on the PATH when it makes its database.
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        with gradebook.Gradebook(f"sqlite:///{path}"):
            return path


@pytest.fixture
def unreleased(course, empty_gradebook) -> Course:
    """The course with a gradebook in which no assignment has been generated."""
    (course.root / "nbgrader_config.py").write_text("c = get_config()\n")
    shutil.copy(empty_gradebook, course.root)
    return course


LACKS = (
    "memory: not in the gradebook yet, run `nbgrader generate_assignment memory` there first, then `grader grade "
    "--gradebook`; until then the ledger and its exports alone have this\n"
)


@pytest.mark.course
def test_a_decision_stands_although_the_gradebook_does_not_know_the_assignment_yet(unreleased, capsys):
    assert decide(unreleased) == 0
    said = capsys.readouterr()
    assert said.err == LACKS
    assert said.out.startswith(f"ada: {ID} is 7 of ")
    assert overrides(unreleased)["ada", ID].points == 7


@pytest.mark.course
def test_and_so_does_a_regrade(unreleased, capsys, monkeypatch):
    (before,) = gradings(unreleased, "memory", "ada")
    (before.folder / "files").mkdir()
    now = before.report.model_copy(update={"exercises": (exercise(ID, 6, 10, check()),)})
    monkeypatch.setattr(
        appeals, "regrade_of", lambda course, name, jobs: Regrade((Regraded(before, now),), (), ())
    )
    assert appeals.regrade(unreleased.root, write=True, jobs=1) == 0
    assert capsys.readouterr().err == LACKS
    assert [each.report.points for each in gradings(unreleased, "memory", "ada")] == [5, 6]


@pytest.mark.course
def test_nothing_is_written_where_the_gradebook_cannot_be_opened(unreleased):
    (unreleased.root / "nbgrader_config.py").unlink()
    with pytest.raises(BadInput, match=r"no nbgrader_config\.py there"):
        decide(unreleased)
    assert not lines(unreleased).exists()
