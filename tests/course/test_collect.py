"""`grader collect`: what of a download becomes a submission, and who is named because theirs does not."""

from pathlib import PurePosixPath

import pytest

from grader.commands import collect
from grader.course import cli
from grader.course.downloads import FORMATS
from grader.kit import find_kit
from grader.refusal import BadInput
from tests.course.test_downloads import zipped

ROSTER = "Student,ID,SIS Login ID\nGhost,1201,ghost\nAda,1202,ada\n"


@pytest.fixture
def collected(tmp_path, capsys):
    """Collects a download with these files; stderr and the exit code."""
    (tmp_path / "roster.csv").write_text(ROSTER)

    def run(format_name, files, assignment="memory", **more):
        (tmp_path / "download.zip").write_bytes(zipped(files, **more))
        code = collect.run(
            find_kit(), format_name, tmp_path / "download.zip", tmp_path, assignment, tmp_path / "roster.csv"
        )
        return capsys.readouterr().err.splitlines(), code

    return run


@pytest.mark.parametrize(
    ("format_name", "files", "name"),
    [
        ("canvas", {"ghost_1201_77_notes.txt": b"x"}, "notes.txt"),
        ("folder", {"ghost/notes.txt": b"x", "ghost/.DS_Store": b""}, "notes.txt"),
        ("folder", {"ghost.pdf": b"x"}, "ghost.pdf"),
        ("classroom", {"memory-ghost/README.md": b"x"}, "README.md"),
        ("canvas", {"ghost_1201_77_work.zip": zipped({"notes.txt": b"x"})}, "work.zip/notes.txt"),
    ],
)
def test_a_hand_in_without_notebook_or_python_is_named_and_makes_no_folder(
    collected, tmp_path, format_name, files, name
):
    said, code = collected(format_name, files)
    assert (said, code) == (
        [f"ghost: {name} is neither a notebook nor a .py file", "no submission: Ada"],
        3,
    )
    assert not (tmp_path / "submitted").exists()


def test_what_was_collected_before_stays_and_that_is_said(collected, tmp_path):
    assert collected("canvas", {"ghost_1201_77_memory.ipynb": b"{}"}) == (["no submission: Ada"], 0)
    said, code = collected("canvas", {"ghost_1201_78_a.txt": b"", "ghost_1201_79_b.txt": b""})
    assert said[0] == (
        "ghost: a.txt, b.txt: neither a notebook nor a .py file among them; what was collected before stays"
    )
    assert code == 3
    assert (tmp_path / "submitted" / "ghost" / "memory" / "memory.ipynb").is_file()


def test_a_wrong_file_beside_a_notebook_is_no_problem(collected):
    files = {"ghost_1201_77_memory.ipynb": b"{}", "ghost_1201_78_notes.txt": b""}
    assert collected("canvas", files) == (["no submission: Ada"], 0)


def test_an_assignment_that_the_course_does_not_list_is_named_with_the_remedy(collected, tmp_path):
    (tmp_path / "course.yaml").write_text("assignments: {memory: }")
    with pytest.raises(BadInput, match=r"course\.yaml lists only memory: add roofline to assignments there"):
        collected("canvas", {}, "roofline")
    with pytest.raises(BadInput, match="--assignment rooflines: no such assignment, choose one of memory"):
        collected("canvas", {}, "rooflines")


def test_the_help_says_what_canvas_calls_files_and_where_each_format_has_its_times_from():
    told = " ".join((cli.collect.__doc__ or "").split())
    assert "student_LATE_userid_submissionid_file" in told
    assert all(f" {name}: " in told for name in FORMATS)
    assert "mtime" in told
    (example,) = [word for word in told.split() if word.startswith("amaraokafor_")]
    (found,), strange = FORMATS["canvas"]({PurePosixPath(example.rstrip(".")): (lambda: b"{}", None)})
    assert (found.keys, list(found.files), strange) == (["1201"], ["memory.ipynb"], [])
