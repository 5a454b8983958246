"""A report on disk: what is written is read again, and never half of it."""

import io
import os

import pytest
from rich.console import Console

from grader.report import (
    CheckResult,
    Environment,
    Evidence,
    ExerciseResult,
    GradeReport,
    Outcome,
    ReportUnreadable,
    SubmissionInfo,
    read_report,
    write_atomically,
    write_report,
)
from grader.table import print_report


def report(*exercises: ExerciseResult, **more) -> GradeReport:
    info = SubmissionInfo(
        id="ada", sha256="ab", files=("memory/state.py",), missing=("memory/budget.py",), notes=("a note",)
    )
    environment = Environment(isolation="local", kit_version="0", libraries={"numpy": "2"})
    return GradeReport(
        kind="self-check", submission=info, environment=environment, exercises=exercises, **more
    )


def exercise(outcome: Outcome, *checks: CheckResult, **more) -> ExerciseResult:
    return ExerciseResult(
        id="memory.some", title="Some", outcome=outcome, points=2.5, max_points=10, checks=checks, **more
    )


def check(outcome: Outcome = Outcome.FAILED, **more) -> CheckResult:
    return CheckResult(name="test_it", claim="It is so.", outcome=outcome, **more)


def shown(given: GradeReport, width: int | None = None) -> str:
    stream = io.StringIO()
    terminal = (
        {"width": width, "force_terminal": True, "color_system": None} if width else {"soft_wrap": True}
    )
    print_report(given, Console(file=stream, highlight=False, **terminal))
    return stream.getvalue()


def test_what_is_written_is_read_again(tmp_path):
    evidence = (
        Evidence(name="saved", value=float("nan"), unit="bytes"),
        Evidence(name="ratio", value=float("inf")),
    )
    first = report(
        exercise(Outcome.FAILED, check(message="größer × \x1b[31m\n", hint="h", evidence=evidence[1:])),
        only=("memory.some",),
    )
    write_report(first, tmp_path / "deep" / "report.json")
    assert read_report(tmp_path / "deep" / "report.json") == first
    second = report(exercise(Outcome.FAILED, check(evidence=evidence)))
    write_report(second, tmp_path / "report.json")
    assert str(read_report(tmp_path / "report.json").exercises[0].checks[0].evidence[0].value) == "nan"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a report of this version"),
        ('{"schema_version": 1', "not a report of this version"),
        ("[]", "not a report of this version"),
        (None, "cannot be read"),
    ],
)
def test_a_damaged_report_is_one_line_with_its_path(tmp_path, text, said):
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ReportUnreadable) as caught:
        read_report(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_report_of_another_version_is_refused(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(report(schema_version=2).model_dump_json())
    with pytest.raises(ReportUnreadable, match="report version 2, this kit reads 1"):
        read_report(path)


def test_a_failed_write_leaves_the_old_file_and_no_scrap(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    write_atomically(path, "old")

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_an_exercise_is_one_line_of_a_terminal_and_whole_elsewhere():
    todo = "write " + "very " * 40 + "much"
    given = report(exercise(Outcome.TODO, check(Outcome.TODO), todo=todo))
    assert todo in shown(given)
    lines = shown(given, width=100).splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("…")
    assert max(map(len, lines)) <= 100


def test_a_message_cannot_steer_the_terminal_or_be_markup():
    text = shown(report(exercise(Outcome.FAILED, check(message="\x1b[2J[red]gone[/red]\nsecond"))))
    assert "\x1b" not in text
    assert "[red]gone[/red]" in text
    assert "second" in text


def test_a_message_that_several_checks_share_is_shown_once():
    text = shown(
        report(exercise(Outcome.FAILED, check(message="same"), check(message="same"), check(message="other")))
    )
    assert text.count("same") == 1
    assert text.count("other") == 1


def test_a_pending_exercise_says_why_on_its_own_line():
    text = shown(
        report(
            exercise(
                Outcome.NEEDS_TORCH,
                check(Outcome.NEEDS_TORCH, message="needs torch: install it"),
                pending_points=7.5,
            )
        )
    )
    assert len(text.splitlines()) == 2
    assert "needs torch: install it" in text.splitlines()[0]
    assert "7.5 pending" in text


def test_totals_keep_extra_credit_apart():
    given = report(exercise(Outcome.FAILED), exercise(Outcome.PASSED, extra_credit=True))
    assert "2.5 of 10 points and 2.5 extra" in shown(given)
    assert (given.points, given.max_points, given.provisional) == (5, 10, False)
