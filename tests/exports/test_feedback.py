"""`grader feedback`: the pages, what they never show, and the zip."""

import re
import sys
import zipfile

import pytest

from grader.cli import main
from grader.exports.feedback import feedback_html, feedback_markdown, zipped
from grader.report import Outcome, SubmissionInfo
from tests.exports.sample_reports import broken, check, cohort, exercise, good, mixed, report, written


@pytest.fixture
def feedback(monkeypatch, capsys):
    """Runs `grader feedback`: exit code, stdout and stderr."""

    def run(*words) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["grader", "feedback", *map(str, words)])
        with pytest.raises(SystemExit) as exit_:
            main()
        return exit_.value.code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("page", [feedback_html, feedback_markdown])
def test_a_page_says_what_holds_what_does_not_and_what_is_pending(page):
    text = page(mixed())
    for said in (
        "15.68 of 45 points, 20 pending",
        "Claim 2 holds.",
        "got 2,147,483,648 parameters, expected 1,342,177,280 parameters",
        "Keys have kv",
        "attention: too large, by half",
        "needs a GPU: this machine has none",
        "5 points are pending",
        "Still to be written",
    ):
        assert said in text


@pytest.mark.parametrize("page", [feedback_html, feedback_markdown])
def test_names_of_checks_mistakes_and_evidence_are_for_staff(page):
    secret = check(Outcome.FAILED, name="test_x[layers=17]", hidden=True, mistake="forgets_gqa", claim="")
    text = page(report("ada", exercise("memory.count", 0, 10, secret, outcome=Outcome.FAILED)))
    assert "17" not in text
    assert "forgets" not in text
    assert "a hidden check" in text


@pytest.mark.parametrize("page", [feedback_html, feedback_markdown])
def test_an_ungraded_submission_says_why_and_shows_no_points(page):
    text = page(broken())
    assert "could not be graded: the grader ended early: killed" in text
    assert not re.search(r"\b0 (of|/)", text)


def test_the_page_runs_and_loads_nothing():
    text = feedback_html(mixed())
    assert "default-src 'none'" in text
    assert not re.search(r"<(script|link|img|iframe|object)|\bsrc=|url\(|@import|https?:", text)


def test_checks_that_say_the_same_are_one_and_a_hint_is_given_once():
    same = [check(Outcome.FAILED, claim="It is so.", message="no", hint="Look.") for _ in range(3)]
    other = check(Outcome.FAILED, claim="That too.", message="no", hint="Look.")
    text = feedback_markdown(
        report("ada", exercise("memory.count", 0, 10, *same, other, outcome=Outcome.FAILED))
    )
    assert text.count("It is so.") == 1
    assert "and 2 more that say the same" in text
    assert text.count("Look.") == 1


def test_files_left_out_for_one_reason_are_one_note_and_others_stay_apart():
    """Who hands in the whole folder hands in the kit's tests, thirty lines of them above the grade."""
    tests = [f"memory/test_{each}.py: not copied, the grader has its own tests" for each in "abc"]
    others = ["a.pyc: not copied, only .py files are", "memory: handed in late", "roofline: handed in late"]
    info = SubmissionInfo(id="ada", notes=(*tests, *others))
    text = feedback_markdown(report("ada", exercise("memory.kv_cache_bytes", 1, 1, check()), submission=info))
    assert "and 2 more: not copied, the grader has its own tests" in text
    assert "test\\_b" not in text
    assert all(each.partition(": ")[2] in text for each in others)
    assert text.count("handed in late") == 2


def test_the_command_writes_both_pages_and_a_zip_with_the_same_bytes_each_time(feedback, tmp_path):
    grades = written(tmp_path / "grades", *cohort())
    code, out, err = feedback(grades, "--out", tmp_path / "a", "--zip")
    assert code == 3
    assert "3 pages in" in out
    assert err == "not graded: carl: the grader ended early: killed\n"
    feedback(grades, "--out", tmp_path / "b", "--zip")
    assert (tmp_path / "a" / "feedback.zip").read_bytes() == (tmp_path / "b" / "feedback.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a" / "feedback.zip") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        for name in archive.namelist():
            assert archive.read(name) == (tmp_path / "a" / name).read_bytes()
        assert len(archive.namelist()) == 2 * len(cohort())


def test_a_submission_that_is_called_like_the_zip_stops_nobody(feedback, tmp_path):
    names = ("ada", "Feedback.zip", "all-feedback.zip")
    reports = [good().model_copy(update={"submission": SubmissionInfo(id=name)}) for name in names]
    grades = written(tmp_path / "grades", *reports)
    code, out, err = feedback(grades, "--out", tmp_path / "a", "--zip")
    assert (code, err) == (0, "")
    assert "zipped in" in out
    with zipfile.ZipFile(tmp_path / "a" / "all-all-feedback.zip") as archive:
        assert len(archive.namelist()) == 2 * len(names)
    assert not list((tmp_path / "a").rglob("*.part"))


def test_without_zip_there_is_none(feedback, tmp_path):
    code, _, _ = feedback(written(tmp_path / "grades", good()), "--out", tmp_path / "a")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "a").rglob("*.*")) == ["feedback.html", "feedback.md"]


def test_a_zip_is_sorted_and_keeps_names_that_are_not_ascii():
    first, second = (zipped(dict(order)) for order in ([("ö", "1"), ("a", "2")], [("a", "2"), ("ö", "1")]))
    assert first == second


def test_without_jinja2_the_remedy_is_named(feedback, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "grader.exports.feedback", raising=False)
    code, _, err = feedback(written(tmp_path, good()), "--out", tmp_path / "a")
    assert code == 2
    assert err == "grader: feedback needs Jinja2: pip install -e '.[instructor]' and run this again\n"
