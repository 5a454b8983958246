"""A file that looks like one that is graded, and is not, is named to student and instructor."""

from pathlib import Path

import pytest

from grader.report import Outcome
from grader.summary import note_on
from tests.exports.sample_reports import exercise, report
from tests.grader.test_intake import BOTH, staged

STUBS = {"memory/state.py": b"", "memory/parameters.py": b"", "roofline/ridge.py": b""}


@pytest.mark.parametrize(
    ("root", "edited"),
    [("", "state.py"), ("ada/", "state.py"), ("ada/", "ada/state.py"), ("a/b/", "a/state.py")],
)
def test_an_edited_file_outside_of_its_folder_is_named_where_a_stub_is_inside(
    tmp_path: Path, root: str, edited: str
) -> None:
    files = {root + name: content for name, content in STUBS.items()} | {edited: b"x = 1\n"}
    result = staged(tmp_path, files)
    assert result.notes == (f"{edited}: not graded, memory/state.py is there too",)


def test_the_only_file_of_a_name_is_no_lookalike(tmp_path: Path) -> None:
    assert staged(tmp_path, BOTH).notes == ()
    flat = staged(tmp_path / "flat", {"state.py": b"", "helper.py": b""})
    assert flat.notes == ("no assignment folder: files taken as memory/state.py",)


def test_the_cohort_s_table_says_so_beside_untouched(tmp_path: Path) -> None:
    info = staged(tmp_path, {**STUBS, "state.py": b"x = 1\n"})
    graded = report("alice", exercise("memory.parameter_count", 0, 10, outcome=Outcome.TODO))
    submission = graded.submission.model_copy(update={"files": info.files, "notes": info.notes})
    note = note_on(graded.model_copy(update={"submission": submission}))
    assert note == "untouched; state.py: not graded, memory/state.py is there too"
