"""A submission that is refused has a report that says why, so that no export takes an older grade for its own."""

import csv
import io
import shutil
import zipfile
from pathlib import Path

import pytest

from grader import cohort
from grader.checks.verdicts import environment
from grader.commands import export, feedback, runner
from grader.commands.grade import _conclude
from grader.judges import Order
from grader.kit import Kit
from grader.report import GradeReport, Outcome, read_report
from grader.summary import Row
from tests.exports.sample_reports import check, exercise

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def judged(monkeypatch):
    """A judge that gives 10 points to everybody, at once."""

    def at_once(order, staged, info, *rest) -> GradeReport:
        current = environment("process", order.kit, order.seed)
        given = tuple(exercise(each, 10, 10, check()) for each in order.only)
        return GradeReport(kind="official", submission=info, environment=current, exercises=given)

    monkeypatch.setattr(cohort, "run_judge", at_once)


@pytest.fixture
def fox(tmp_path) -> Path:
    return handed_in(tmp_path / "submissions" / "fox.zip", "x = 1\n")


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "grades"


def handed_in(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("memory/state.py", text)
    return path


def grade(out: Path, *paths: Path) -> list[Row]:
    only = ("memory.parameter_count",)
    return cohort.grade(Order(Kit(ROOT, ROOT / "solutions"), out, "process", b"s" * 32, 1, only), paths)


def test_an_older_grade_is_not_exported_once_a_newer_hand_in_is_refused(fox, out, tmp_path, capsys):
    assert grade(out, fox)[0].graded
    fox.write_bytes(b"no zip any more")
    rows = grade(out, fox)
    assert (rows[0].report, rows[0].displaced) == (None, True)
    assert read_report(out / "fox" / cohort.BEFORE).points == 10
    report = read_report(out / "fox" / "report.json")
    assert (report.kind, report.exercises) == ("official", ())
    assert rows[0].note == f"{fox.parent}/{report.error}"
    assert report.error.startswith("fox.zip: not a readable zip")
    capsys.readouterr()
    assert export.run("csv", [out], None, None) == 3
    said = capsys.readouterr()
    assert said.err.startswith("not graded: fox: ")
    assert "zip" in said.err
    assert "10" not in next(csv.DictReader(io.StringIO(said.out))).values()
    assert feedback.run([out], tmp_path / "pages", False) == 3
    assert "not graded: fox: " in capsys.readouterr().err


def test_the_grade_that_no_longer_counts_is_said_once_and_kept(fox, out, capsys):
    grade(out, fox)
    fox.write_bytes(b"no zip any more")
    assert _conclude(grade(out, fox), out, "process", 0) == 3
    kept = f"fox: its earlier grade no longer counts, and is kept in {out}/fox/report.before.json\n"
    assert kept in capsys.readouterr().err
    assert _conclude(grade(out, fox), out, "process", 0) == 3
    assert "earlier grade" not in capsys.readouterr().err
    assert read_report(out / "fox" / cohort.BEFORE).points == 10


def test_a_mended_submission_is_graded_again(fox, out):
    whole = fox.read_bytes()
    grade(out, fox)
    fox.write_bytes(b"no zip any more")
    grade(out, fox)
    fox.write_bytes(whole)
    (row,) = grade(out, fox)
    assert row.graded
    assert row.fresh
    assert read_report(out / "fox" / "report.json").points == 10


def test_every_refusal_has_a_report_that_export_and_combine_name(fox, out, tmp_path, capsys):
    folder = fox.parent
    (folder / "empty").mkdir()
    for place in ("a", "b"):
        shutil.copytree(ROOT / "assignments" / "memory", folder / "twice" / place / "memory")
    handed_in(folder / "same.zip", "x = 1\n")
    (folder / "Same").mkdir()
    grade(out, *sorted(folder.iterdir()))
    refused = {"empty", "twice", "same", "Same"}
    assert {path.parent.name for path in out.glob("*/report.json")} == {"fox", *refused}
    capsys.readouterr()
    assert export.run("github-summary", [out], None, None) == 3
    said = capsys.readouterr()
    assert "1 of 5 graded" in said.out
    assert {line.split(": ")[1] for line in said.err.splitlines()} == refused
    assert runner.combine([out], [], tmp_path / "both") == 3
    said = capsys.readouterr()
    assert said.out.startswith("1 of 5 graded")
    assert {line.split(": ")[1] for line in said.err.splitlines()} == refused


def test_what_cannot_be_a_folders_name_gets_none(out, tmp_path):
    place = handed_in(tmp_path / "submissions" / "summary.csv.zip", "x = 1\n")
    (row,) = grade(out, place)
    assert row.report is None
    assert not [path for path in out.iterdir() if path.is_dir()]


def test_a_report_of_our_own_fault_is_no_grade_to_be_kept(fox, out):
    grade(out, fox)
    report = read_report(out / "fox" / "report.json")
    assert report.exercises[0].outcome is Outcome.PASSED
    (out / "fox" / "report.json").write_text(
        report.model_copy(update={"error": "the judge ended early", "exercises": ()}).model_dump_json()
    )
    fox.write_bytes(b"no zip any more")
    (row,) = grade(out, fox)
    assert not row.displaced
    assert not (out / "fox" / cohort.BEFORE).exists()
