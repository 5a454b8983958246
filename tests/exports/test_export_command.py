"""`grader export`: files and folders, what is said on stderr, exit codes."""

import csv
import json
import os
import sys
from pathlib import Path

import junitparser
import pytest

from grader.cli import main
from grader.report import Outcome
from tests.exports.sample_reports import broken, check, cohort, exercise, good, mixed, report, written

ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",101,,ada,A
Dora,103,,dora,A
"""


@pytest.fixture
def grader(monkeypatch, capfdbinary):
    """Runs the command: exit code, stdout and stderr."""

    def run(*words) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["grader", *map(str, words)])
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capfdbinary.readouterr()
        return exit_.value.code, out.decode(), err.decode()

    return run


@pytest.fixture
def grades(tmp_path):
    return written(tmp_path / "grades", *cohort())


def test_one_report_goes_to_stdout_or_a_file(grader, grades, tmp_path):
    code, out, _ = grader("export", "gradescope", grades / "ada" / "report.json")
    assert (code, json.loads(out)["score"]) == (0, 35)
    code, nothing, _ = grader(
        "export", "gradescope", grades / "ada" / "report.json", "--out", tmp_path / "deep" / "results.json"
    )
    assert (code, nothing) == (0, "")
    assert (tmp_path / "deep" / "results.json").read_text() == out


@pytest.mark.parametrize(
    ("name", "file"),
    [("gradescope", "results.json"), ("prairielearn", "results.json"), ("classroom", "result.txt")],
)
def test_several_reports_have_a_file_each(grader, grades, tmp_path, name, file):
    code, _, err = grader("export", name, grades, "--out", tmp_path / "out")
    assert code == 3
    assert {path.parent.name for path in (tmp_path / "out").glob(f"*/{file}")} == {
        each.submission.id for each in cohort()
    }
    assert "not graded: carl: the grader ended early: killed" in err


@pytest.mark.parametrize("name", ["canvas", "csv"])
def test_a_table_is_utf_8_with_line_feeds(grader, grades, tmp_path, name):
    _, out, _ = grader("export", name, grades)
    grader("export", name, grades, "--out", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == out.encode()
    assert "🦉" in out
    assert "\r" not in out
    assert len({len(row) for row in csv.reader(out.splitlines())}) == 1


def test_junit_can_be_read(grader, grades):
    _, out, _ = grader("export", "junit", grades)
    assert len(list(junitparser.JUnitXml.fromstring(out.encode()))) == 3


def test_what_is_missing_is_listed_and_a_lost_grade_is_exit_3(grader, grades, tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER)
    code, out, err = grader("export", "canvas", grades, "--roster", tmp_path / "roster.csv")
    assert code == 3
    assert [row[0] for row in csv.reader(out.splitlines())] == [
        "Student",
        "    Points Possible",
        "Lovelace, Ada",
        "Dora",
    ]
    assert err.splitlines() == [
        "no submission: Dora",
        'not on the roster: bö, "b" O\'Neil, Jr. 🦉 (left out)',
        'pending: bö, "b" O\'Neil, Jr. 🦉: 5 points; blank: Rooflab flash_attention, Rooflab flash_attention timing',
        "not on the roster: carl (left out)",
        "not graded: carl: the grader ended early: killed",
        "pending: 1 submission waits for timing on a GPU",
    ]


def test_a_student_without_a_submission_loses_no_grade(grader, tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER)
    folder = written(tmp_path / "grades", good())
    code, _, err = grader("export", "csv", folder, "--roster", tmp_path / "roster.csv")
    assert code == 0
    assert "no submission: Dora" in err


def test_a_partly_graded_assignment_is_said_to_be_blank(grader, tmp_path):
    part = report("zoe", exercise("memory.count", 10, 10, check()), only=("memory.count",))
    whole = report(
        "ada", exercise("memory.count", 10, 10, check()), exercise("memory.more", 5, 5, check(Outcome.PASSED))
    )
    _, _, err = grader("export", "canvas", written(tmp_path, part, whole))
    assert err == "partly graded: zoe; blank: Rooflab memory\n"


def test_an_id_that_a_gradebook_will_not_know_is_said(grader, tmp_path):
    (tmp_path / "roster.csv").write_text("Student,SIS Login ID\nAda,@ada\n")
    folder = written(tmp_path / "grades", report("@ada", exercise("memory.count", 10, 10, check())))
    code, out, err = grader("export", "canvas", folder, "--roster", tmp_path / "roster.csv")
    assert code == 0
    assert "'@ada" in out
    assert "changed: the id @ada of Ada" in err


REFUSED = {
    "export": "missing argument 'FORMAT'",
    "export canvas": "missing argument 'REPORTS...'",
    "export moodle @/grades": "format moodle: no such format, choose one of canvas, classroom, csv",
    "export canvas @/none": "/none: no such file or folder",
    "export canvas @/grades --roster @/none": "/none: cannot be read",
    "export canvas @/grades --out @/grades": "/grades: is a folder, name a file",
    "export gradescope @/grades": "name a folder with --out",
    "export gradescope @/grades --out @/file": "/file: is a file, name a folder",
    "export csv @/grades @/late": "two reports",
    "feedback @/grades": "missing option '--out'",
    "feedback @/grades --out @/file": "/file: is a file, name a folder",
    "feedback @/none --out @/o": "/none: no such file or folder",
}


@pytest.mark.parametrize("words", REFUSED)
def test_is_refused_in_one_line(words, grader, grades, tmp_path):
    (tmp_path / "file").write_text("")
    written(tmp_path / "late", good())
    code, out, err = grader(*words.replace("@", str(tmp_path)).split())
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    assert err.startswith("grader: ")
    assert REFUSED[words] in err


@pytest.mark.parametrize("what", ["fifo", "link", "dangling link", "device"])
def test_what_is_no_ordinary_file_is_neither_replaced_nor_waited_for(grader, grades, tmp_path, what):
    out, kept = tmp_path / "out.csv", tmp_path / "kept"
    kept.write_text("kept")
    if what == "fifo":
        os.mkfifo(out)
    elif what == "device":
        out = Path("/dev/null")
    else:
        out.symlink_to(kept if what == "link" else tmp_path / "nowhere")
    before = out.lstat()
    code, _, err = grader("export", "csv", grades, "--out", out)
    assert code == 2
    assert f"{out.name}: is a " in err
    assert len(err.splitlines()) == 1
    assert (out.lstat().st_ino, out.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert kept.read_text() == "kept"


def test_a_name_may_be_as_long_as_the_system_allows_and_no_longer(grader, grades, tmp_path):
    longest = tmp_path / ("x" * 251 + ".csv")
    assert grader("export", "csv", grades, "--out", longest)[0] == 3
    assert longest.stat().st_size
    for words in (("export", "csv", grades), ("feedback", grades), ("export", "gradescope", grades)):
        code, _, err = grader(*words, "--out", tmp_path / ("x" * 252 + ".csv"))
        assert code == 2
        assert "File name too long" in err
        assert len(err.splitlines()) == 1


def test_a_fifo_for_a_roster_is_not_waited_for(grader, grades, tmp_path):
    os.mkfifo(tmp_path / "roster.csv")
    code, _, err = grader("export", "csv", grades, "--roster", tmp_path / "roster.csv")
    assert code == 2
    assert "not a regular file" in err


def test_terminal_escapes_in_a_report_reach_no_terminal(grader, tmp_path):
    for each in (broken(), mixed()):
        folder = written(tmp_path / each.submission.id[:2], each)
        for name in ("canvas", "csv", "junit"):
            _, out, err = grader("export", name, folder)
            assert "\x1b" not in out + err


def test_columns_are_refused_to_reports_that_disagree_on_points(grader, tmp_path):
    folder = written(tmp_path, good(), report("bob", exercise("memory.count", 10, 15, check())))
    for name in ("canvas", "csv"):
        assert grader("export", name, folder)[0] == 2
    assert grader("export", "junit", folder)[0] == 0
