"""`grader grade` over an old --out folder says how many it graded again though nobody handed in anything else."""

from grader.graded_again import graded_again, reports_before
from grader.report import Environment, SubmissionInfo
from grader.summary import Row
from tests.exports.sample_reports import report, written

NOW = Environment(isolation="sandbox", kit_version="0.2.0", kit_sha256="new")


def test_a_changed_kit_is_counted_and_a_changed_hand_in_is_not(tmp_path):
    written(tmp_path, *(report(name) for name in ("ada", "ben", "chiara")))
    (tmp_path / "dmitri").mkdir()
    (tmp_path / "dmitri" / "report.json").write_text("{")
    names = ("ada", "ben", "chiara", "dmitri", "elif")
    before = reports_before([tmp_path / "handed-in" / name for name in names], tmp_path)
    assert set(before) == {"ada", "ben", "chiara"}
    other = SubmissionInfo(id="ben", sha256="another")
    rows = [
        Row("ada", report("ada", environment=NOW), ""),
        Row("ben", report("ben", environment=NOW, submission=other), ""),
        Row("chiara", report("chiara"), "", fresh=False),
        Row("dmitri", report("dmitri", environment=NOW), ""),
        Row("elif", None, "elif: no files"),
    ]
    assert graded_again(rows, before) == 1
