"""Drawn text at every place that a submission can put it: no format, no table and no log line obeys it."""

import csv
import io
import re
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from grader.exports.canvas import canvas
from grader.exports.feedback import feedback_html, feedback_markdown
from grader.exports.gradescope import gradescope
from grader.exports.junit import junit
from grader.exports.spreadsheet import spreadsheet
from grader.printable import printable
from grader.report import ReviewNote
from grader.summary import Row, summary_csv
from grader.table import print_cohort, print_report
from tests.drawn import DRAWN
from tests.exports.test_hostile_text import all_text, attacked, attacked_entries

_TERMINAL = [
    "\x1b[2J",
    "\x1b]0;t\x07",
    "\x9b31m",
    "\x1b",
    "\x9d",
    "\x90",
    "\x07",
    "\x00",
    "\x08",
    "\r",
    "\n",
    "\t",
]
_INVISIBLE = [
    "\x85",
    "\x0b",
    "\x1c",
    "\u2028",
    "\u202e",
    "\u2066",
    "\u200b",
    "\ufeff",
    "\ud800",
    "\udcff",
    "\ufffe",
]
_MARKUP = [
    "<script>",
    "</pre>",
    "<!--",
    "-->",
    "]]>",
    "&lt;",
    "&#27;",
    '"',
    "'",
    "<",
    ">",
    "&",
    "[/bold]",
    "[red]",
]
_FORMULAS = ["=1+1", "=", "+", "-", "@", "＝", "|", ",", ";", "%0A", "::error::", "{{", "{%"]
_MARKDOWN = [
    "```",
    "~~~",
    "    ",
    "# ",
    "* ",
    "1. ",
    "![x](y)",
    "](javascript:x)",
    "http://x.org",
    "www.x.org",
    "\\",
]
_BLOCKS = ["`", "_", "**", "\n\n", "\n---\n", "\n| a |", "<b>", "é", "🦉", "x"]
PIECES = st.sampled_from([*_TERMINAL, *_INVISIBLE, *_MARKUP, *_FORMULAS, *_MARKDOWN, *_BLOCKS])
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=8).map("".join)
MANY = settings(DRAWN, max_examples=60)


def obeyed(text: str) -> set[str]:
    """Characters that a terminal, a log reader or XML acts on."""
    return {each for each in text if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Cn")} - {"\n"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, tuple(name for name, _ in attributes)))

    def handle_comment(self, data: str) -> None:
        self.seen.append(("comment", ()))


def tags(html: str) -> list[tuple[str, tuple[str, ...]]]:
    """Every tag with the names of its attributes, as a browser's parser sees them."""
    parser = _Tags()
    parser.feed(html)
    return [each for each in parser.seen if each[0] not in ("p", "pre")]  # an empty text has neither


@MANY
@given(TEXTS)
def test_no_export_holds_what_is_obeyed(text):
    for form, shown in all_text(text).items():
        assert not obeyed(shown), form


@MANY
@given(TEXTS)
def test_a_terminal_shows_the_table_and_the_report_as_text(text):
    report = attacked(text)
    stream = io.StringIO()
    console = Console(file=stream, width=200, soft_wrap=True, highlight=False, color_system=None)
    print_report(report, console)
    print_cohort([(text, report, text), (text, None, text)], console)
    assert not obeyed(stream.getvalue())


@MANY
@given(TEXTS)
def test_tables_keep_their_columns_and_run_nothing(text):
    entries = attacked_entries(text)
    rows = [Row(text, each, text) for each in (attacked(text), None)]
    for form in (canvas(entries), spreadsheet(entries), summary_csv(rows)):
        table = list(csv.reader(io.StringIO(form, newline=""), strict=True))
        assert len({len(row) for row in table}) == 1
        assert not [cell for row in table for cell in row if re.match(r"\s*[=+\-@＝＋－＠]", cell)]


@MANY
@given(TEXTS)
def test_markup_has_the_same_elements_whatever_the_text(text):
    def of_xml(given: str) -> list[str]:
        return [each.tag for each in ElementTree.fromstring(junit(attacked_entries(given))).iter()]

    # A letter at its end: a text of nothing printable leaves its paragraph out.
    assert of_xml(text + "x") == of_xml("harmless")
    assert tags(feedback_html(attacked(text + "x"))) == tags(feedback_html(attacked("harmless")))
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    plain, odd = (tags(reader.render(feedback_markdown(attacked(each)))) for each in ("harmless", text + "x"))
    assert odd == plain


@MANY
@given(TEXTS)
def test_a_line_of_a_log_stays_one_line(text):
    shown = printable(text, 200)
    assert "\n" not in shown
    assert not obeyed(shown)
    assert printable(shown, 200) == shown


@MANY
@given(TEXTS)
def test_the_review_for_staff_reaches_no_student(text):
    """What deserves a look is in report.json alone: pages and platforms that students read show nothing of it."""
    report = attacked("harmless")
    note = ReviewNote(file="memory/state.py", line=3, weight="look", what=f"imports ctypes {text}")
    reviewed = report.model_copy(update={"review": (note,)})
    for form in (feedback_html, feedback_markdown, gradescope):
        assert form(reviewed) == form(report)
