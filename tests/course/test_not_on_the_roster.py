"""`grader export nbgrader` with the roster of another class: the cause is said, and nothing is entered."""

import pytest

from grader.commands.gradebook import enter_reports
from grader.exports.roster import Student, matched
from grader.refusal import BadInput
from grader.report import SubmissionInfo
from tests.exports.sample_reports import check, exercise, report


def test_a_roster_that_has_none_of_the_students_is_the_cause_and_no_assignment_is(tmp_path):
    info = SubmissionInfo(id="ada", files=("memory/budget.py",))
    one = report("ada", exercise("memory.parameter_count", 1, 10, check()), submission=info)
    entries = matched([one], [Student(name="Ben", sis_login_id="ben")])
    with pytest.raises(BadInput, match="roster has nobody of these reports: not on it are ada; nothing was"):
        enter_reports(entries, tmp_path)
    assert not (tmp_path / "ledger").exists()
