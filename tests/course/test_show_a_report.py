"""`grader show` of a report that no ledger has: where to read what its checks found."""

import pytest

from grader.commands import appeals
from grader.refusal import BadInput
from tests.exports.sample_reports import report, written


@pytest.mark.parametrize("name", ["bob", "bob/report.json"])
def test_a_plain_report_is_pointed_to(tmp_path, name):
    grades = written(tmp_path / "a" / "b" / "grades", report("bob"))
    with pytest.raises(BadInput) as refused:
        appeals.show(grades / name, "memory.parameter_count")
    said = str(refused.value)
    assert said.startswith(f"{grades / name}: no entry of a ledger; ")
    assert f"what each check of this report found is in {grades}/bob/report.json" in said


def test_a_folder_without_a_report_is_told_what_to_name(tmp_path):
    with pytest.raises(BadInput, match=r"no entry of a ledger, name COURSE_DIR/ledger"):
        appeals.show(tmp_path, "memory.parameter_count")
