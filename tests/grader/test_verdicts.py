"""From what a test did to a check result: texts that a terminal can show, and numbers beyond a float."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.calls.faults import CheckFailed
from grader.calls.runner import LocalRunner
from grader.checks.verdicts import Judge
from grader.kit import Kit
from grader.report import Outcome, SubmissionInfo

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def judge():
    return Judge(Kit(ROOT, ROOT / "solutions"), LocalRunner(ROOT / "solutions"), SubmissionInfo(id="a"))


def check(folder: str) -> SimpleNamespace:
    """What a pytest item has that a judge looks at."""
    marker = pytest.mark.exercise("memory.kv_cache_bytes").mark
    return SimpleNamespace(
        get_closest_marker=lambda name: marker,
        path=ROOT / folder / "test_x.py",
        name="test_x",
        nodeid="test_x",
        function=None,
    )


VISIBLE, HIDDEN = "assignments/memory", "solutions/memory/hidden"


def test_a_message_holds_nothing_that_a_terminal_obeys_and_has_an_end(judge):
    hostile = "\x1b[2Jpassed\n" * 50 + "x" * 300_000
    result = judge.judge(check(VISIBLE), CheckFailed(hostile), 0.1)
    assert "\x1b" not in result.message
    assert len(result.message) < 13_000


def test_a_number_beyond_a_float_is_wrong_and_not_our_error(judge):
    with pytest.raises(OverflowError) as raised:
        float(10**400)
    assert judge.judge(check(VISIBLE), raised.value, 0.1).outcome is Outcome.FAILED


def test_any_other_error_of_a_check_is_ours(judge):
    assert judge.judge(check(VISIBLE), KeyError("x"), 0.1).outcome is Outcome.GRADER_ERROR


def test_the_time_of_a_hidden_check_is_told_too_coarsely_to_carry_an_input(judge):
    assert judge.judge(check(HIDDEN), None, 0.12345).duration_s == 0.1
    assert judge.judge(check(VISIBLE), None, 0.1236).duration_s == 0.1236
