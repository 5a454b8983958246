"""Every format written by the command for a class of odd names, read by a reader that is not ours, score by score."""

import base64
import csv
import io
import json
import sys
from html.parser import HTMLParser

import jsonschema
import junitparser
import pytest
from markdown_it import MarkdownIt

from grader.cli import main
from grader.report import Outcome
from tests.exports.sample_reports import check, exercise, report, written

NAMES = (
    "O'Neil, Jr.",
    'Zoë "Z" Müller',
    "=1+1",
    "Ada 🦉, 李",
    "plain",
    "Ünal; Ben",
)
POINTS = (3.333333, 1.875, 2.675, 9.995, 0.005, 10.0)
"""Of 10, and twice that of the other exercise's 20: thirds, halves of a cent, the smallest, all."""
COUNT, KERNEL = "memory.count", "flash_attention.flash"


def two(points: float) -> float:
    """At two decimals, as Python prints it."""
    return float(f"{points:.2f}")


def cohort():
    """A report a name; the last two are one with pending points and one without a grade."""
    made = [
        report(
            name,
            exercise(COUNT, points, 10, check(Outcome.FAILED), outcome=Outcome.FAILED),
            exercise(KERNEL, 2 * points, 20, check(Outcome.FAILED), outcome=Outcome.FAILED),
        )
        for name, points in zip(NAMES, POINTS, strict=True)
    ]
    waits = exercise(
        KERNEL, 0, 20, check(Outcome.NEEDS_TRITON), outcome=Outcome.NEEDS_TRITON, pending_points=20
    )
    made.append(report("pending, of course", exercise(COUNT, 7.125, 10, check(Outcome.FAILED)), waits))
    return [*made, report("ungraded, Jr.", error="killed")]


DECIDED = dict(zip(NAMES, POINTS, strict=True))


@pytest.fixture
def exported(monkeypatch, capfdbinary, tmp_path):
    """Runs `grader export FORMAT` of the class with a roster: stdout, or the folder of the files."""
    grades = written(tmp_path / "grades", *cohort())
    roster = tmp_path / "roster.csv"
    with roster.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "submission"])
        for number, each in enumerate(cohort(), start=1):
            name = each.submission.id
            writer.writerow([name, number, f"u{number}", f"login{number}", "A; B", name])
        writer.writerow(["Nobody, Jr.", 99, "u99", "login99", "A", ""])

    def run(name: str, *, folder: bool = False):
        where = tmp_path / "out"
        words = ["grader", *name.split(), str(grades)]
        words += [] if name == "feedback" else ["--roster", str(roster)]
        words += ["--out", str(where)] if folder else []
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as exit_:
            main()
        assert exit_.value.code == 3  # one is ungraded
        return where if folder else capfdbinary.readouterr().out.decode()

    return run


def login(name: str) -> str:
    return f"login{[each.submission.id for each in cohort()].index(name) + 1}"


def test_canvas_as_its_importer_reads_it(exported):
    header, possible, *rows = csv.reader(io.StringIO(exported("export canvas"), newline=""), strict=True)
    assert header == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Rooflab memory",
        "Rooflab flash_attention",
    ]
    assert possible[5:] == ["10", "20"]
    assert {len(row) for row in rows} == {len(header)}
    by_login = {row[3]: row for row in rows}
    for name, points in DECIDED.items():
        row = by_login[login(name)]
        assert row[0].removeprefix("'") == name
        assert [float(row[5]), float(row[6])] == [two(points), two(2 * points)]
    assert by_login[login("pending, of course")][5:] == ["7.12", ""]
    assert by_login[login("ungraded, Jr.")][5:] == by_login["login99"][5:] == ["", ""]


def test_the_table_as_a_spreadsheet_reads_it(exported):
    rows = {
        row["sis_login_id"]: row
        for row in csv.DictReader(io.StringIO(exported("export csv"), newline=""), strict=True)
    }
    assert not [row for row in rows.values() if None in row or None in row.values()]
    for name, points in DECIDED.items():
        row = rows[login(name)]
        assert (row["submission"].removeprefix("'"), row["student"].removeprefix("'")) == (name, name)
        assert [float(row[key]) for key in (COUNT, KERNEL, "points", "max_points")] == [
            two(points),
            two(2 * points),
            two(3 * points),
            30,
        ]
    waits, lost, absent = rows[login("pending, of course")], rows[login("ungraded, Jr.")], rows["login99"]
    assert (waits[COUNT], waits[KERNEL], waits["status"]) == ("7.12", "pending", "provisional")
    assert {lost["points"], lost[COUNT], absent["points"], absent[COUNT]} == {""}


GRADESCOPE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": {"enum": ["text", "html", "simple_format", "md", "ansi"]},
        "test_output_format": {"enum": ["text", "html", "simple_format", "md", "ansi"]},
        "test_name_format": {"enum": ["text", "html", "simple_format", "md", "ansi"]},
        "visibility": {"enum": ["hidden", "after_due_date", "after_published", "visible"]},
        "stdout_visibility": {"enum": ["hidden", "after_due_date", "after_published", "visible"]},
        "extra_data": {"type": "object"},
        "leaderboard": {"type": "array"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "name_format": {"type": "string"},
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": {"enum": ["text", "html", "simple_format", "md", "ansi"]},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": {"enum": ["hidden", "after_due_date", "after_published", "visible"]},
                    "extra_data": {"type": "object"},
                },
            },
        },
    },
    "anyOf": [{"required": ["score"]}, {"required": ["tests"]}],
}
"""Gradescope Autograder Documentation, "Autograder Specifications", "Output format"."""

PRAIRIELEARN = {
    "type": "object",
    "required": ["gradable"],
    "properties": {
        "gradable": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "message": {"type": "string"},
        "output": {"type": "string"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "points": {"type": "number"},
                    "max_points": {"type": "number"},
                    "message": {"type": "string"},
                    "output": {"type": "string"},
                },
            },
        },
    },
    "if": {"properties": {"gradable": {"const": True}}},
    "then": {"required": ["score"]},
}
"""PrairieLearn documentation, "External grading", "Grading result"."""

CLASSROOM = {
    "type": "object",
    "required": ["version", "status", "tests", "max_score"],
    "properties": {
        "version": {"type": "integer"},
        "status": {"enum": ["pass", "fail", "error"]},
        "max_score": {"type": "number"},
        "tests": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name", "status", "score"],
                "properties": {
                    "name": {"type": "string"},
                    "status": {"enum": ["pass", "fail", "error"]},
                    "score": {"type": "number"},
                    "message": {"type": ["string", "null"]},
                    "duration": {"type": "number"},
                },
            },
        },
    },
}
"""The action autograding-grading-reporter of GitHub Classroom."""


def read_json(text: str, schema: dict) -> dict:
    """JSON without NaN, by the format's schema."""
    found = json.loads(text, parse_constant=lambda word: pytest.fail(word))
    jsonschema.validate(found, schema, cls=jsonschema.Draft202012Validator)
    return found


def scores(tests: list[dict], key: str) -> dict[str, float]:
    """By exercise."""
    return {test["name"].split(":")[0].split(" ")[0]: test[key] for test in tests if key in test}


def test_gradescope_by_its_specification(exported):
    folder = exported("export gradescope", folder=True)
    for name, points in DECIDED.items():
        found = read_json((folder / name / "results.json").read_text(encoding="utf-8"), GRADESCOPE)
        assert found["score"] == two(3 * points)
        assert scores(found["tests"], "score") == {COUNT: two(points), KERNEL: two(2 * points)}
        assert scores(found["tests"], "max_score") == {COUNT: 10, KERNEL: 20}
    waits = read_json((folder / "pending, of course/results.json").read_text(encoding="utf-8"), GRADESCOPE)
    assert scores(waits["tests"], "score") == {COUNT: 7.12}
    lost = read_json((folder / "ungraded, Jr./results.json").read_text(encoding="utf-8"), GRADESCOPE)
    assert "score" not in lost
    assert lost["tests"] == []


def test_prairielearn_by_its_documentation(exported):
    folder = exported("export prairielearn", folder=True)
    for name, points in DECIDED.items():
        found = read_json((folder / name / "results.json").read_text(encoding="utf-8"), PRAIRIELEARN)
        assert two(30 * found["score"]) == two(3 * points)
        assert {key: two(each) for key, each in scores(found["tests"], "points").items()} == {
            COUNT: two(points),
            KERNEL: two(2 * points),
        }
    for name in ("pending, of course", "ungraded, Jr."):
        found = read_json((folder / name / "results.json").read_text(encoding="utf-8"), PRAIRIELEARN)
        assert found["gradable"] is False
        assert "score" not in found


def test_classroom_as_its_reporter_reads_it(exported):
    folder = exported("export classroom", folder=True)

    def read(name: str) -> dict:
        key, _, value = (folder / name / "result.txt").read_text(encoding="ascii").strip().partition("=")
        assert key == "result"
        return read_json(base64.b64decode(value, validate=True).decode(), CLASSROOM)

    for name, points in DECIDED.items():
        found = read(name)
        assert found["max_score"] == 30
        assert scores(found["tests"], "score") == {COUNT: two(points), KERNEL: two(2 * points)}
    assert scores(read("pending, of course")["tests"], "score") == {COUNT: 7.12}
    assert read("ungraded, Jr.")["max_score"] == 0


def test_junit_as_a_ci_system_reads_it(exported):
    suites = list(junitparser.JUnitXml.fromstring(exported("export junit").encode()))
    found = {suite.name: {each.name: each.value for each in suite.properties()} for suite in suites}
    assert len(suites) == len(cohort()) + 1
    for name, points in DECIDED.items():
        assert [float(found[name][key]) for key in ("points", "max_points")] == [two(3 * points), 30]
    assert (found["pending, of course"]["points"], found["pending, of course"]["pending_points"]) == (
        "7.12",
        "20",
    )
    assert "points" not in found["ungraded, Jr."]


class Cells(HTMLParser):
    """The text of every heading and table cell of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.inside = 0

    def handle_starttag(self, tag, attrs):
        """A cell begins."""
        if tag in ("td", "h1", "th"):
            self.cells.append("")
            self.inside += 1

    def handle_endtag(self, tag):
        """A cell ends."""
        self.inside -= tag in ("td", "h1", "th")

    def handle_data(self, data):
        """Text, in a cell or not."""
        if self.inside:
            self.cells[-1] += data


@pytest.mark.parametrize("suffix", ["html", "md"])
def test_a_page_of_feedback_as_a_browser_reads_it(exported, suffix):
    folder = exported("feedback", folder=True)

    def cells(name: str) -> list[str]:
        text = (folder / name / f"feedback.{suffix}").read_text(encoding="utf-8")
        reader = Cells()
        reader.feed(text if suffix == "html" else MarkdownIt("gfm-like", {"linkify": False}).render(text))
        return [" ".join(each.split()) for each in reader.cells]

    for name, points in DECIDED.items():
        found = cells(name)
        assert found[0] == name
        worth = [each.split(" / ") for each in found if " / " in each]
        assert [(float(got), most) for got, most in worth] == [
            (two(points), "10"),
            (two(2 * points), "20"),
        ]
    assert "pending / 20" in cells("pending, of course")
    assert not [each for each in cells("ungraded, Jr.") if " / " in each]
