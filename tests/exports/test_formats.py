"""What each format promises: no score changes, pending and ungraded are never 0, extra credit is where it belongs."""

import base64
import csv
import io
import json
import re
from xml.etree import ElementTree

import junitparser
import pytest

from grader.exports.canvas import canvas
from grader.exports.classroom import classroom, step_output
from grader.exports.gradescope import gradescope
from grader.exports.junit import junit
from grader.exports.prairielearn import prairielearn
from grader.exports.roster import Student, matched
from grader.exports.spreadsheet import spreadsheet
from grader.report import Outcome
from tests.exports.sample_reports import (
    TIMING,
    broken,
    check,
    cohort,
    exercise,
    good,
    mixed,
    report,
    roster,
    waiting,
)

VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def by_name(result) -> dict[str, dict]:
    return {test["name"].split(":")[0].split(" ")[0]: test for test in result["tests"][::-1]}


def test_gradescope_s_fields_are_those_of_its_specification():
    for each in cohort():
        result = gradescope(each)
        assert set(result) <= {
            "score",
            "output",
            "output_format",
            "visibility",
            "stdout_visibility",
            "execution_time",
            "tests",
            "extra_data",
        }
        assert result["visibility"] in VISIBILITY
        for test in result["tests"]:
            assert set(test) <= {
                "score",
                "max_score",
                "status",
                "name",
                "number",
                "output",
                "output_format",
                "tags",
                "visibility",
            }
            assert test["visibility"] in VISIBILITY
            assert test.get("status", "passed") in {"passed", "failed"}
        json.dumps(result, allow_nan=False)


def test_gradescope_gives_neither_a_score_nor_a_status_to_what_is_pending():
    tests = by_name(gradescope(mixed()))
    assert {"score", "status"}.isdisjoint(tests["flash_attention.performance"])
    assert tests["flash_attention.flash"]["score"] == 12.35
    assert "status" not in tests["flash_attention.flash"]
    assert "score" not in gradescope(broken())


def test_gradescope_s_score_is_the_report_s_with_extra_credit():
    assert gradescope(good())["score"] == 35
    assert gradescope(mixed())["score"] == round(3.333333 + 12.345678, 2)


def test_only_staff_see_names_of_hidden_checks_and_mistakes():
    tests = gradescope(mixed())["tests"]
    shown = [test for test in tests if test["visibility"] == "visible"]
    assert "forgets_gqa" not in json.dumps(shown)
    assert "test_claim_3" not in json.dumps(shown)
    staff = [test for test in tests if test["visibility"] == "hidden"]
    assert "test_claim_3[7B-3] (forgets_gqa)" in staff[0]["output"]
    assert sum(test["max_score"] for test in staff) == 0


def test_classroom_knows_visible_checks_only():
    text = json.dumps(classroom(mixed()))
    assert "Claim 3" not in text
    assert "attention: too large" not in text
    assert by_name(classroom(mixed()))["memory.count"]["score"] == 5
    all_hidden = report("eve", exercise("memory.count", 10, 10, check(hidden=True)))
    assert [test["name"] for test in classroom(all_hidden)["tests"]] == ["pending"]


def test_classroom_leaves_what_is_pending_out_of_both_sums():
    result = classroom(mixed())
    assert result["max_score"] == 10
    assert "flash_attention.flash" not in by_name(result)
    ungraded = classroom(broken())
    assert (ungraded["max_score"], ungraded["status"]) == (0, "error")
    assert ungraded["tests"]


def test_classroom_s_extra_credit_adds_to_the_score_alone():
    result = classroom(good())
    assert sum(test["score"] for test in result["tests"]) == 35
    assert result["max_score"] == 30
    assert result["status"] == "pass"


def test_classroom_s_step_output_is_one_line_that_decodes():
    line = step_output(classroom(mixed()))
    assert re.fullmatch(r"result=[A-Za-z0-9+/=]+\n", line)
    assert json.loads(base64.b64decode(line.removeprefix("result="))) == classroom(mixed())


def canvas_says(text: str) -> tuple[dict[str, float], dict[str, dict[str, str]]]:
    """What Canvas's importer makes of it: points of the assignments, and each student's cells by login."""
    first, *others = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert first[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert len(set(first)) == len(first)
    points: dict[str, float] = {}
    students = {}
    for row in others:
        assert len(row) == len(first)
        if "Points Possible" in row[0]:
            assert not points, "only one row may set points"
            points = {title: float(cell) for title, cell in zip(first[5:], row[5:], strict=True)}
        else:
            students[row[3]] = dict(zip(first[5:], row[5:], strict=True))
    return points, students


def test_canvas_reads_points_and_scores_back():
    points, students = canvas_says(canvas(matched(cohort(), roster()), TIMING))
    assert points == {
        "Rooflab memory": 10,
        "Rooflab flash_attention": 20,
        "Rooflab flash_attention timing": 15,
    }
    assert students["ada"] == {
        "Rooflab memory": "15",
        "Rooflab flash_attention": "20",
        "Rooflab flash_attention timing": "",
    }
    assert students['bö, "b" O\'Neil, Jr. 🦉']["Rooflab memory"] == "3.33"
    assert students['bö, "b" O\'Neil, Jr. 🦉']["Rooflab flash_attention"] == ""


def test_canvas_s_timing_column_fills_when_a_gpu_has_decided():
    timed = waiting().model_copy(update={"points": 7.5, "pending_points": 0.0, "outcome": Outcome.PASSED})
    _, students = canvas_says(canvas(matched([report("ada", timed)], None), TIMING))
    assert students["ada"] == {"Rooflab flash_attention timing": "7.5"}


def test_canvas_leaves_a_partly_graded_assignment_blank():
    part = report("zoe", exercise("memory.count", 10, 10, check()), only=("memory.count",))
    _, students = canvas_says(canvas(matched([good(), part], None), TIMING))
    assert set(students["zoe"].values()) == {""}


def test_canvas_gets_no_row_that_it_would_match_by_a_name_that_a_student_chose():
    posing = report("Lovelace, Ada", exercise("memory.count", 0, 10, check(Outcome.FAILED)))
    text = canvas(matched([posing], [Student("Lovelace, Ada", sis_login_id="ada1")]), TIMING)
    assert [row["SIS Login ID"] for row in rows(text)[1:]] == ["ada1"]


def test_prairielearn_leaves_timing_out_and_is_not_gradable_while_anything_else_is_pending():
    assert prairielearn(good(), TIMING)["score"] == 1
    assert prairielearn(mixed(), TIMING)["gradable"] is False
    assert "score" not in prairielearn(mixed(), TIMING)
    assert prairielearn(good())["gradable"] is False
    half = report("ada", exercise("memory.count", 5, 10, check(Outcome.FAILED)), waiting())
    assert prairielearn(half, TIMING)["score"] == 0.5


def test_prairielearn_does_not_divide_by_nothing():
    extra = report("ada", exercise("memory.more", 5, 5, check(), extra_credit=True))
    assert prairielearn(extra)["gradable"] is False
    assert prairielearn(broken())["gradable"] is False


def test_the_table_has_blanks_for_ungraded_and_a_word_for_pending():
    _, second, missing, third = rows(spreadsheet(matched(cohort(), roster())))
    assert second["flash_attention.performance"] == second["flash_attention.flash"] == "pending"
    for row, status in ((missing, "no submission"), (third, "ungraded, not on the roster")):
        assert row["status"] == status
        assert row["points"] == row["max_points"] == row["memory.count"] == ""


ATTRIBUTES = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set()),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "skipped"},
        {"name", "tests", "failures", "errors"},
    ),
    "testcase": ({"name", "time", "classname", "group"}, {"name"}),
    "properties": (set(), set()),
    "property": ({"name", "value"}, {"name", "value"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
}
"""Allowed and required by junit-10.xsd."""
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "testcase": {"failure", "error", "skipped"},
    "properties": {"property"},
}


def test_junit_keeps_to_the_schema():
    for element in ElementTree.fromstring(junit(matched(cohort(), roster()))).iter():
        allowed, required = ATTRIBUTES[element.tag]
        assert required <= set(element.attrib) <= allowed, element.tag
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
        assert re.fullmatch(r"[0-9]*\.[0-9]{3}", element.get("time", "0.000"))


def test_junitparser_reads_the_same_counts_and_properties():
    suites = list(junitparser.JUnitXml.fromstring(junit(matched(cohort(), roster())).encode()))
    assert [suite.name for suite in suites] == [
        "ada",
        'bö, "b" O\'Neil, Jr. 🦉',
        "Points Possible",
        "carl",
    ]
    assert [(s.tests, s.failures, s.errors, s.skipped) for s in suites] == [
        (5, 0, 0, 1),
        (7, 3, 0, 2),
        (1, 0, 0, 1),
        (1, 0, 1, 0),
    ]
    assert {each.name: each.value for each in suites[1].properties()}["points"] == "15.68"
    assert "points" not in {each.name for each in suites[3].properties()}


@pytest.mark.parametrize("points", [0.0, 1.875, 2.675, 33.333333, 1234.565, 99.995])
def test_no_format_changes_a_score_at_two_decimals(points):
    one = report("ada", exercise("memory.count", points, 2000, check(Outcome.FAILED)))
    entries = matched([one], None)
    wanted = float(f"{points:.2f}")
    assert float(rows(canvas(entries))[1]["Rooflab memory"]) == wanted
    assert float(rows(spreadsheet(entries))[0]["points"]) == wanted
    assert gradescope(one)["score"] == gradescope(one)["tests"][0]["score"] == wanted
    assert classroom(one)["tests"][0]["score"] == wanted
    suite = next(iter(junitparser.JUnitXml.fromstring(junit(entries).encode())))
    assert float({each.name: each.value for each in suite.properties()}["points"]) == wanted
    assert prairielearn(one)["score"] * 2000 == pytest.approx(points)
