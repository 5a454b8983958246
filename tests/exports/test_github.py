"""What a job on GitHub shows: commands that nobody else can write, ten of a level, and no number that is no grade."""

import re

import pytest
from markdown_it import MarkdownIt

from grader.exports.github import MOST_SHOWN, annotations, summary
from grader.exports.roster import matched
from grader.report import Outcome
from tests.clock.worlds import SHAPES, Truth, graded
from tests.exports.sample_reports import TIMING, broken, check, cohort, exercise, good, report
from tests.exports.test_hostile_text import TEXTS, attacked

COMMAND = re.compile(r"::(error|warning|notice) title=[^:,\n\r]*::[^\n\r]*\n")


def timed(name="ada", outcome=Outcome.PASSED, message="takes 0.98 to 1.01 times the baseline", points=15.0):
    one = check(outcome, message=message)
    pending = 15.0 if outcome.pending else 0.0
    done = exercise("flash_attention.performance", points, 15, one, outcome=outcome, pending_points=pending)
    return report(name, done)


def lines(*reports):
    return annotations(matched(reports, None), TIMING).splitlines()


def test_an_ungraded_submission_is_an_error_a_pending_one_a_warning_and_the_rest_a_notice():
    levels = {
        each.split("title=")[1].split("::")[0]: each.split(" ")[0] for each in lines(*cohort(), timed("bea"))
    }
    assert levels["carl"] == "::error"
    assert levels["ada"] == "::warning"
    assert levels["bea"] == "::notice"


def test_a_time_is_said_with_its_interval_and_a_pending_one_with_its_reason():
    [fast] = lines(timed())
    assert "takes 0.98 to 1.01 times the baseline" in fast
    [lost] = lines(timed(outcome=Outcome.GRADER_ERROR, message="the GPU does not answer", points=0.0))
    assert lost.startswith("::error")
    assert "could not be graded" in lost
    assert "of 15" not in lost
    assert "the GPU does not answer" in lost


def test_a_time_is_said_with_the_card_that_it_was_taken_on():
    verdict = graded(Truth(ratio=1.0), shapes=SHAPES[:1])
    verdict = verdict.model_copy(update={"fingerprint": {"card": "NVIDIA H100", "driver": "0.0"}})
    one = check(Outcome.PASSED, message=verdict.reason, timing=verdict)
    done = exercise("flash_attention.performance", 15, 15, one)
    assert "(on NVIDIA H100, driver 0.0)" in lines(report("ada", done))[0]


def test_an_ungraded_submission_has_no_number_in_it():
    [line] = lines(broken())
    assert "could not be graded" in line
    assert not re.search(r"\d of \d", line)
    row = next(each for each in summary(matched([broken()], None), TIMING).splitlines() if "carl" in each)
    assert [cell.strip() for cell in row.strip("|").split("|")][2:] == ["", ""]


def test_no_more_than_ten_of_a_level_and_the_last_tells_of_the_rest():
    many = [timed(f"s{number:02}") for number in range(25)]
    shown = lines(*many, broken())
    assert len([each for each in shown if each.startswith("::notice")]) == MOST_SHOWN
    assert "and 16 more" in shown[-1]
    assert shown[0].startswith("::error")
    assert len(lines(*many[:MOST_SHOWN])) == MOST_SHOWN


@pytest.mark.parametrize(
    "text", [*TEXTS.values(), "::error::x", "%0A::stop-commands::x", "##[error]x", "a,b=c::d"]
)
def test_hostile_text_writes_no_command_of_its_own(text):
    one = timed(message=text, outcome=Outcome.FAILED)
    one = one.model_copy(update={"submission": attacked(text).submission})
    for each in annotations(matched([one, attacked(text)], None), TIMING).splitlines(keepends=True):
        assert COMMAND.fullmatch(each), each


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_text_stays_in_its_cell(text):
    one = timed(message=text, outcome=Outcome.FAILED)
    one = one.model_copy(update={"submission": attacked(text).submission})
    page = summary(matched([one], None), TIMING)
    html = MarkdownIt("gfm-like", {"linkify": False}).render(page)
    assert html.count("<tr>") == 2
    assert not re.search(r"<(script|img|a|b|strong|code|h1)\b", html)


def test_a_summary_is_never_larger_than_github_takes():
    many = [timed(f"s{number:05}", message="x y " * 300) for number in range(2000)]
    text = summary(matched(many, None), TIMING)
    assert len(text.encode()) < 2**20
    assert "Cut here" in text
    assert "Cut here" not in summary(matched([good()], None), TIMING)
