"""Which reports and rosters are read, and the one line for those that are not."""

import json
import os

import pytest

from grader.exports.reading import read_reports, refuse_different_points
from grader.exports.roster import Student, matched, read_roster
from grader.refusal import BadInput
from tests.exports.sample_reports import broken, check, cohort, exercise, good, report, written


def refused(*places) -> str:
    with pytest.raises(BadInput) as error:
        read_reports(places)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_out_folder_a_report_s_folder_and_a_report_give_the_same(tmp_path):
    out = written(tmp_path / "grades", good())
    for place in (out, out / "ada", out / "ada" / "report.json"):
        assert read_reports([place]) == [good()]
    assert read_reports([out, out / "ada"]) == [good()], "the same file twice is one report"


def test_reports_come_in_the_order_of_their_ids(tmp_path):
    out = written(tmp_path, *reversed(cohort()))
    assert [each.submission.id for each in read_reports([out])] == sorted(
        each.submission.id for each in cohort()
    )


def test_a_relative_path_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(written(tmp_path, good()) / "ada")
    from pathlib import Path

    assert read_reports([Path("report.json")]) == [good()]
    assert read_reports([Path()]) == [good()]
    assert read_reports([Path("..")]) == [good()]


def test_places_without_a_report_are_named(tmp_path):
    (tmp_path / "file").write_text("")
    assert "/none: no such file or folder" in refused(tmp_path / "none")
    assert "/file: not a report.json" in refused(tmp_path / "file")
    assert "holds no <submission>/report.json" in refused(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:50], "not a report of this version"),
        (
            lambda text: text.replace('"schema_version": 1', '"schema_version": 2'),
            "report version 2, this kit",
        ),
        (lambda text: text.replace('"official"', '"self-check"'), "a self-check, which is no grade"),
        (lambda text: text.replace('"id": "ada"', '"id": "bob"'), "is the report of bob"),
        (lambda text: json.dumps({**json.loads(text), "bonus": 100}), "not a report of this version"),
        (lambda text: text.replace('"ada"', '"\\udcff"'), "not a report of this version"),
    ],
)
def test_a_report_that_is_no_grade_is_refused(tmp_path, change, said):
    path = written(tmp_path, good()) / "ada" / "report.json"
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))
    line = refused(tmp_path)
    assert said in line
    assert "report.json" in line


@pytest.mark.parametrize("points", [float("nan"), float("inf"), -5, 999])
def test_points_that_cannot_be_are_refused(tmp_path, points):
    path = written(tmp_path, good()) / "ada" / "report.json"
    tree = json.loads(path.read_text())
    tree["exercises"][0]["points"] = points
    path.write_text(json.dumps(tree))
    assert "points of" in refused(tmp_path) or "not a report of this version" in refused(tmp_path)


def test_an_exercise_that_is_listed_twice_is_refused(tmp_path):
    path = written(tmp_path, good()) / "ada" / "report.json"
    tree = json.loads(path.read_text())
    tree["exercises"].append(tree["exercises"][0])
    path.write_text(json.dumps(tree))
    assert "points of" in refused(tmp_path)


def test_a_report_from_a_submission_is_not_trusted(tmp_path):
    out = written(tmp_path / "submissions", good())
    (out / "summary.csv").unlink()
    assert "not in an --out folder of grader grade" in refused(out)


def test_a_link_to_a_report_elsewhere_is_not_trusted(tmp_path):
    real = written(tmp_path / "grades", broken())
    forged = written(tmp_path / "student", good())
    (forged / "summary.csv").unlink()
    os.symlink(forged / "ada", real / "ada")
    assert "not trusted" in refused(real)


def test_two_attempts_of_one_submission_are_refused_with_both_paths(tmp_path):
    first, second = written(tmp_path / "first", good()), written(tmp_path / "late", good())
    line = refused(first, second)
    assert line.startswith("ada: two reports, ")
    assert "first/ada/report.json and " in line
    assert "late/ada/report.json; name the one that counts" in line


def test_reports_that_disagree_about_an_exercise_s_points_share_no_column():
    other = report("bob", exercise("memory.count", 10, 15, check()))
    with pytest.raises(BadInput, match=r"memory\.count: 10 points for ada, 15 for bob"):
        refuse_different_points([good(), other])


def roster_of(tmp_path, text: str | bytes) -> list[Student]:
    path = tmp_path / "roster.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_roster(path)


CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,HW (12)
    Points Possible,,,,,10
"Lovelace, Ada",101,s1,ADA@x.edu,"A, B",5
Zoë 🦉,102,,zoe,,
"""


def test_canvas_s_own_export_is_a_roster(tmp_path):
    assert roster_of(tmp_path, CANVAS) == [
        Student("Lovelace, Ada", "101", "s1", "ADA@x.edu", "A, B"),
        Student("Zoë 🦉", "102", "", "zoe", ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "submission;Student\nada;Ada\n",
        "Student\tsis login id\nAda\tada\n\n",
        "sep=;\r\nsubmission;Student\r\nada;Ada\r\n",
        "Sep=|\nsubmission|Student\nada|Ada\n",
        "submission,Student,HW,HW\nada,Ada,1,2\n",
    ],
)
def test_other_tables_with_an_id_will_do(tmp_path, text):
    (student,) = roster_of(tmp_path, text)
    assert (student.name, set(student.keys.values())) == ("Ada", {"ada"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "none of the columns submission, SIS Login ID"),
        ("Student,Mail\nAda,a@x\n", "none of the columns"),
        ("Student,ID\n", "or no student"),
        ("Student,ID\nAda,\n", "row 2 (Ada) has no id"),
        ("Student,ID\nAda,1\nBob,1\n", "rows 2 and 3 both have the ID 1"),
        ("Student,ID\nLovelace, Ada,1\n", "row 2 has more cells than the header"),
        ('Student,ID\n"Ada"x,1\n', "not a CSV file"),
        (b"Student,ID\nZo\xeb,1\n", "not UTF-8"),
        ("Student,ID\nAda,1\n".encode("utf-16"), "not UTF-8"),
        ("Student,ID\nAda,1\n".encode("utf-16-le"), "UTF-16, it seems, save it as CSV UTF-8"),
        ("Student,ID\nAda,1\n".encode("utf-16-be"), "UTF-16, it seems"),
        ("Student,ID,id\nAda,1,2\n", "has the column ID twice"),
        ("sep=;\nStudent;ID\nAda;\n", "row 3 (Ada) has no id"),
        ('sep="\nStudent;ID\nAda;1\n', "none of the columns"),
    ],
)
def test_a_roster_that_cannot_be_used_says_why(tmp_path, text, said):
    with pytest.raises(BadInput) as error:
        roster_of(tmp_path, text)
    assert said in str(error.value)
    assert "roster.csv" in str(error.value)


def test_a_missing_roster_is_named(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_roster(tmp_path / "none.csv")


def test_ids_match_in_any_case_and_however_an_accent_is_written():
    (entry,) = matched([report("Zoe\u0308@X.edu")], [Student(sis_login_id="zo\u00eb@x.edu")])
    assert entry.listed
    assert entry.student is not None


def test_two_submissions_of_one_student_are_refused():
    with pytest.raises(BadInput, match="Ada: two submissions, 101 and ada; name the one that counts"):
        matched([report("101"), report("ada")], [Student("Ada", id="101", sis_login_id="ada")])


def test_an_id_of_two_students_in_different_columns_hurts_only_where_it_is_used():
    ada, bob = (
        Student("Ada", id="101", sis_login_id="ada"),
        Student("Bob", sis_user_id="101", sis_login_id="bob"),
    )
    entries = matched([report("ada"), report("bob")], [ada, bob])
    assert [entry.student for entry in entries] == [ada, bob]
    with pytest.raises(BadInput, match="101: an id of Ada and of Bob; give the roster a column submission"):
        matched([report("101")], [ada, bob])
    named = Student("Bob", sis_user_id="101", submission="group-7")
    assert matched([report("101")], [ada, named])[0].report is not None


def test_the_column_submission_alone_counts_where_it_is_filled():
    student = Student("Ada", sis_login_id="ada", submission="team-1")
    first, second = matched([report("team-1"), report("ada")], [student])
    assert first.report == report("team-1")
    assert not second.listed
