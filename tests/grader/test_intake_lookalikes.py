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


@pytest.mark.parametrize(
    "name",
    [
        "memory/state (1).py",
        "memory/state(2).py",
        "memory/state-1.py",
        "memory/state_2.py",
        "memory/state copy.py",
        "memory/state_copy.py",
        "memory/state - Kopie.py",
        "memory/Copy of state.py",
        "memory/state.py.txt",
        "memory/state.txt",
        "memory/state.py.bak",
        "memory/state",
        "state.py",
    ],
)
def test_a_name_that_is_nearly_the_missing_file_s_is_named_and_not_taken(tmp_path: Path, name: str) -> None:
    result = staged(tmp_path, {"memory/parameters.py": b"", name: b"x = 1\n"})
    assert "memory/state.py" in result.missing
    assert result.notes == (f"{name}: is not memory/state.py, which is missing: rename it",)


def test_a_notebook_in_a_file_s_place_is_told_what_is_wanted(tmp_path: Path) -> None:
    result = staged(tmp_path, {"memory/state.py": b"", "memory/parameters.ipynb": b"{}"})
    said = "is not memory/parameters.py, which is missing: hand in its code in a file of that name"
    assert result.notes == (f"memory/parameters.ipynb: {said}",)


@pytest.mark.parametrize(
    "name", ["memory/state_space.py", "memory/mystate.py", "memory/states.py", "other/state.py"]
)
def test_a_helper_s_own_name_is_no_near_miss(tmp_path: Path, name: str) -> None:
    assert staged(tmp_path, {"memory/parameters.py": b"", name: b""}).notes == ()


@pytest.mark.parametrize("name", ["state (1).py", "state - Copy.py", "Copy of state.py", "state.py.txt"])
def test_a_copy_beside_the_graded_file_is_named(tmp_path: Path, name: str) -> None:
    result = staged(tmp_path, {**BOTH, f"memory/{name}": b"x = 1\n"})
    assert result.notes == (f"memory/{name}: not graded, memory/state.py is there too",)


@pytest.mark.parametrize("name", ["state_2.py", "state.ipynb", "state.txt", "state_copying.py"])
def test_what_is_a_helper_or_a_draft_as_likely_is_no_copy(tmp_path: Path, name: str) -> None:
    assert staged(tmp_path, {**BOTH, f"memory/{name}": b""}).notes == ()


def test_the_only_file_of_a_name_is_no_lookalike(tmp_path: Path) -> None:
    assert staged(tmp_path, BOTH).notes == ()
    flat = staged(tmp_path / "flat", {"state.py": b"", "helper.py": b""})
    assert flat.notes == ("no assignment folder: files taken as memory/state.py",)


def test_the_cohort_s_table_names_a_near_miss(tmp_path: Path) -> None:
    info = staged(tmp_path, {"memory/state.py": b"", "memory/parameters (1).py": b""})
    graded = report("alice", exercise("memory.parameter_count", 0, 10, outcome=Outcome.TODO))
    submission = graded.submission.model_copy(update={"missing": info.missing, "notes": info.notes})
    note = note_on(graded.model_copy(update={"submission": submission}))
    assert note.startswith(
        "untouched; memory/parameters (1).py: is not memory/parameters.py, which is missing"
    )


def test_the_cohort_s_table_says_so_beside_untouched(tmp_path: Path) -> None:
    info = staged(tmp_path, {**STUBS, "state.py": b"x = 1\n"})
    graded = report("alice", exercise("memory.parameter_count", 0, 10, outcome=Outcome.TODO))
    submission = graded.submission.model_copy(update={"files": info.files, "notes": info.notes})
    note = note_on(graded.model_copy(update={"submission": submission}))
    assert note == "untouched; state.py: not graded, memory/state.py is there too"
