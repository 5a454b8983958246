"""A folder becomes staged files: what is found, what is copied, what is left out, what is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.intake import StagedSubmission, SubmissionRefused, stage, submission_id
from grader.worker.load import load_module, unload

EDITABLE = {"memory": ("state.py", "parameters.py"), "roofline": ("ridge.py",)}
BOTH = {"memory/state.py": b"A = 1\n", "memory/parameters.py": b"B = 2\n", "roofline/ridge.py": b"C = 3\n"}


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def staged(tmp_path: Path, files: Mapping[str, bytes]) -> StagedSubmission:
    return stage(write(tmp_path / "alice", files), EDITABLE, tmp_path / "staged")


def refusal(tmp_path: Path, argument: Path) -> str:
    """The one line of the refusal, after checking that nothing was staged."""
    with pytest.raises(SubmissionRefused) as caught:
        stage(argument, EDITABLE, tmp_path / "staged")
    assert not (tmp_path / "staged").exists()
    line: str = caught.value.args[0]
    assert line.isprintable()
    return line


# Where the files are


@pytest.mark.parametrize("wrapping", ["", "alice/", "rooflab/assignments/"])
def test_finds_the_assignments_at_the_root_and_under_wrapping_folders(tmp_path: Path, wrapping: str) -> None:
    result = staged(tmp_path, {wrapping + name: content for name, content in BOTH.items()})
    assert result.files == tuple(sorted(BOTH))
    assert result.missing == ()
    assert result.notes == ()
    assert {name: (result.root / name).read_bytes() for name in result.files} == BOTH


def test_the_result_names_its_id_its_source_and_its_root(tmp_path: Path) -> None:
    result = staged(tmp_path, BOTH)
    assert result.id == "alice"
    assert result.source == tmp_path / "alice"
    assert result.root == tmp_path / "staged" / "alice"


def test_absent_editable_files_are_listed_as_missing(tmp_path: Path) -> None:
    result = staged(tmp_path, {"memory/state.py": b""})
    assert result.missing == ("memory/parameters.py", "roofline/ridge.py")


def test_files_handed_in_without_their_folder_are_taken_with_their_helpers(tmp_path: Path) -> None:
    result = staged(tmp_path, {"state.py": b"from .helpers import x", "helpers.py": b"x = 1"})
    assert result.files == ("memory/helpers.py", "memory/state.py")
    assert result.notes == ("no assignment folder: files taken as memory/state.py",)


def test_flat_files_of_two_assignments_each_go_to_their_own(tmp_path: Path) -> None:
    result = staged(tmp_path, {"state.py": b"", "ridge.py": b"", "helpers.py": b""})
    assert result.files == ("helpers.py", "memory/state.py", "roofline/ridge.py")


def test_a_flat_file_that_two_assignments_have_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", {"state.py": b""})
    with pytest.raises(SubmissionRefused, match=r"state\.py could belong to memory or sharding"):
        stage(folder, {"memory": ("state.py",), "sharding": ("state.py",)}, tmp_path / "staged")


def test_copies_in_environments_caches_and_dot_folders_are_not_other_places(tmp_path: Path) -> None:
    ignored = (".git", "__MACOSX", ".venv", "venv", "env", "node_modules", "__pycache__", "site-packages")
    copies = {f"{folder}/{name}": b"old" for folder in ignored for name in BOTH}
    result = staged(tmp_path, BOTH | copies | {"memory/.ipynb_checkpoints/state.py": b"old"})
    assert result.files == tuple(sorted(BOTH))
    assert result.notes == ()


def test_two_places_are_refused_and_both_named(tmp_path: Path) -> None:
    line = refusal(tmp_path, write(tmp_path / "a", {"memory/state.py": b"", "old/memory/state.py": b""}))
    assert "more than one place (its root, old)" in line
    line = refusal(tmp_path, write(tmp_path / "b", {"x/memory/state.py": b"", "x/z/memory/state.py": b""}))
    assert "more than one place (x, x/z)" in line


def test_a_folder_of_submissions_says_to_pass_its_folders(tmp_path: Path) -> None:
    cohort = write(tmp_path / "cohort", {f"student{n:02}/memory/state.py": b"" for n in range(12)})
    line = refusal(tmp_path, cohort)
    assert "holds 12 submissions, not one (student00, student01, ...)" in line
    assert line.endswith("cohort/*")


def test_a_folder_of_submissions_says_so_where_some_are_wrapped_once_more(tmp_path: Path) -> None:
    files = {"ada/memory/state.py": b"", "bob/bob-hw/memory/state.py": b"", "bob/old/memory/state.py": b""}
    line = refusal(tmp_path, write(tmp_path / "cohort", files))
    assert "holds 2 submissions, not one (ada, bob/bob-hw, ...)" in line
    assert line.endswith("cohort/*")


def test_a_folder_of_submissions_one_level_down_says_so_too(tmp_path: Path) -> None:
    course = write(tmp_path / "course", {f"hw1/{name}/memory/state.py": b"" for name in ("ann", "bob")})
    assert refusal(tmp_path, course).endswith("course/hw1/*")


def test_a_folder_of_zips_says_to_pass_the_zips(tmp_path: Path) -> None:
    cohort = write(tmp_path / "cohort", {"ann.zip": b"PK", "bob.zip": b"PK"})
    assert "2 zip files, to be passed as" in refusal(tmp_path, cohort)


def test_a_zip_beside_a_submission_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    result = staged(tmp_path, {"ann/memory/state.py": b"", "bob.zip": b"PK"})
    assert result.notes == ("bob.zip: not looked into",)


def test_nothing_to_grade_says_what_was_expected_where(tmp_path: Path) -> None:
    line = refusal(tmp_path, write(tmp_path / "alice", {"notes.txt": b"", "a/b/c/memory/state.py": b""}))
    assert line.startswith("no memory/state.py, memory/parameters.py, roofline/ridge.py found in ")
    assert "expected <assignment>/<file> at its root or under one folder" in line


def test_an_empty_folder_and_a_missing_one_are_told_apart(tmp_path: Path) -> None:
    assert "it holds no files" in refusal(tmp_path, write(tmp_path / "empty", {}))
    assert "no such folder or zip" in refusal(tmp_path, tmp_path / "absent")


def test_wrong_upper_case_is_named_with_the_right_spelling(tmp_path: Path) -> None:
    line = refusal(tmp_path, write(tmp_path / "a", {"Memory/State.py": b""}))
    assert "has Memory/State.py where memory/state.py is expected: rename it" in line
    result = staged(tmp_path, {"roofline/ridge.py": b"", "memory/State.py": b""})
    assert "memory/State.py: is not memory/state.py, upper and lower case differ" in result.notes
    assert "memory/state.py" in result.missing


# What is copied


def test_contents_are_copied_byte_for_byte(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfx = 1\r\n\tif __name__ == '__main__':\r\n\t\tprint('\xff\x00')\r\n"
    result = staged(tmp_path, {"memory/state.py": content})
    assert (result.root / "memory/state.py").read_bytes() == content


def test_helpers_are_copied_wherever_they_lie(tmp_path: Path) -> None:
    helpers = {
        "helpers.py": b"",
        "memory/__init__.py": b"",
        "memory/parts/count.py": b"",
        "memory/types.py": b"",
    }
    assert staged(tmp_path, BOTH | helpers).files == tuple(sorted(BOTH | helpers))


@pytest.mark.parametrize(
    "name",
    [
        "conftest.py",
        "memory/conftest.py",
        "sitecustomize.py",
        "usercustomize.py",
        "setup.py",
        "memory/__main__.py",
        "memory/test_parameters.py",
        "memory/state_test.py",
        "evil.pth",
        "memory/helper.cpython-311-x86_64-linux-gnu.so",
        "grader.py",
        "memory/specs.py",
        "torch.py",
        "memory/triton.py",
        "numpy.py",
        "more.zip",
    ],
)
def test_what_could_steer_the_grader_is_left_out_with_a_note(tmp_path: Path, name: str) -> None:
    result = staged(tmp_path, BOTH | {name: b"raise SystemExit"})
    assert result.files == tuple(sorted(BOTH))
    assert [note.split(":")[0] for note in result.notes] == [name]


def test_a_folder_with_the_name_of_a_library_or_the_kit_is_left_out_as_one(tmp_path: Path) -> None:
    extra = {
        f"{top}/{file}": b"" for top in ("numpy", "specs", "memory/torch") for file in ("__init__.py", "a.py")
    }
    result = staged(tmp_path, BOTH | extra)
    assert result.files == tuple(sorted(BOTH))
    assert result.notes == (
        "memory/torch/: not copied, it has the name of a library",
        "numpy/: not copied, it has the name of a library",
        "specs/: not copied, the grader has its own",
    )


def test_an_editable_file_is_copied_whatever_its_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", {"profiling/test_trace.py": b"x"})
    result = stage(folder, {"profiling": ("test_trace.py",)}, tmp_path / "staged")
    assert result.files == ("profiling/test_trace.py",)


def test_other_files_are_left_out_without_a_word(tmp_path: Path) -> None:
    others = {
        "README.md": b"",
        "memory/README.md": b"",
        "memory/a.svg": b"",
        "memory/notes.txt": b"",
        "memory/wrong_values.json": b"",
        "a.json": b"",
    }
    result = staged(tmp_path, BOTH | others)
    assert result.files == tuple(sorted(BOTH))
    assert result.notes == ()


@pytest.mark.parametrize("name", ["memory/table.json", "roofline/data/sizes.CSV", "memory/numbers"])
def test_data_beside_the_code_is_left_out_with_a_note(tmp_path: Path, name: str) -> None:
    result = staged(tmp_path, BOTH | {name: b"{}"})
    assert result.files == tuple(sorted(BOTH))
    assert result.notes == (f"{name}: not copied, only .py files are: put data into a .py file",)


def test_too_large_an_editable_file_is_missing_and_the_rest_is_graded(tmp_path: Path) -> None:
    result = staged(tmp_path, BOTH | {"memory/state.py": b"#" * (1 << 20) + b"\n"})
    assert "memory/state.py" in result.missing
    assert result.notes == ("memory/state.py: not copied, larger than 1 MiB",)


def test_a_heap_of_helpers_never_displaces_an_editable_file(tmp_path: Path) -> None:
    result = staged(tmp_path, BOTH | {f"a/h{n:03}.py": b"" for n in range(300)})
    assert len(result.files) == 200
    assert result.missing == ()
    assert len(result.notes) == 21
    assert result.notes[0] == "a/h197.py: not copied, more than 200 files"
    assert result.notes[-1] == "and 83 more"


def test_the_total_is_capped_after_the_editable_files(tmp_path: Path) -> None:
    result = staged(tmp_path, BOTH | {f"a{n}.py": b"#" * 1_000_000 for n in range(6)})
    assert result.missing == ()
    assert result.notes == ("a5.py: not copied, more than 5 MiB in all",)


def test_files_too_deep_are_left_out(tmp_path: Path) -> None:
    result = staged(tmp_path, BOTH | {"1/2/3/4/5/ok.py": b"", "1/2/3/4/5/6/deep.py": b""})
    assert "1/2/3/4/5/ok.py" in result.files
    assert result.notes == ("1/2/3/4/5/6/deep.py: not copied, more than 6 names deep",)


def test_a_note_on_an_editable_file_comes_before_the_others(tmp_path: Path) -> None:
    extra = {f"test_{n}.py": b"" for n in range(30)}
    result = staged(tmp_path, BOTH | extra | {"memory/state.py": b"#" * 2_000_000})
    assert result.notes[0].startswith("memory/state.py")


def test_names_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    line = refusal(tmp_path, write(tmp_path / "a", BOTH | {"helpers.py": b"", "Helpers.py": b""}))
    assert "Helpers.py and helpers.py clash" in line
    line = refusal(tmp_path, write(tmp_path / "b", BOTH | {"lib/a.py": b"", "Lib/b.py": b""}))
    assert "Lib and lib clash" in line


def test_names_as_macos_writes_them_are_composed_and_can_be_imported(tmp_path: Path) -> None:
    helpers = {"memory/gro\u0308\u00dfe.py": b"Z = 5", "memory/ma\u00dfe/e\u0301.py": b"Y = 6"}
    state = "from .größe import Z\nfrom maße.é import Y\n".encode()
    result = staged(tmp_path, {"memory/state.py": state} | helpers)
    assert result.files == ("memory/größe.py", "memory/maße/é.py", "memory/state.py")
    try:
        module = load_module(result.root, "memory", "state.py")
        assert (module.Z, module.Y) == (5, 6)
    finally:
        unload(result.root)


def test_two_names_that_are_composed_to_one_are_refused(tmp_path: Path) -> None:
    files = {"memory/gr\u00f6\u00dfe.py": b"Z = 5", "memory/gro\u0308\u00dfe.py": b"Z = 6"}
    assert "how accents are stored" in refusal(tmp_path, write(tmp_path / "a", BOTH | files))


# Identity


@pytest.mark.parametrize(
    ("argument", "identity"),
    [
        ("cohort/alice", "alice"),
        ("cohort/alice.zip", "alice"),
        ("cohort/alice.ZIP", "alice"),
        ("alice.v2", "alice.v2"),
        ("Zoë O'Neil, Jr", "Zoë O_Neil_ Jr"),
        ("नमस्ते", "नमस्ते"),
        ("e\u0301mile", "\u00e9mile"),
        ("=cmd()", "_cmd__"),
        ("-rf x", "_rf x"),
        (".hidden", "_hidden"),
        ("dots..", "dots"),
        ("caf\udce9", "caf_"),
        ("a:b\\c*?", "a_b_c__"),
    ],
)
def test_the_id_is_the_name_made_safe(argument: str, identity: str) -> None:
    assert submission_id(Path(argument)) == identity


@pytest.mark.parametrize(
    "argument", ["", ".", "..", "a/..", "/", "a\nb", "a\x1b[0m", "...", "???", ".zip", "x" * 101]
)
def test_a_name_that_makes_no_id_is_refused(argument: str) -> None:
    with pytest.raises(SubmissionRefused) as caught:
        submission_id(Path(argument))
    assert caught.value.args[0].isprintable()


def test_a_name_of_many_bytes_is_refused_before_a_file_system_does() -> None:
    with pytest.raises(SubmissionRefused):
        submission_id(Path("作" * 90))


def test_a_folder_may_end_in_zip(tmp_path: Path) -> None:
    assert submission_id(write(tmp_path / "alice.zip", {})) == "alice.zip"


def test_the_digest_covers_names_and_contents_of_what_is_staged_and_nothing_else(tmp_path: Path) -> None:
    def digest(folder: str, files: Mapping[str, bytes]) -> str:
        return stage(write(tmp_path / folder, files), EDITABLE, tmp_path / "staged").sha256

    first = digest("a", BOTH)
    assert digest("b", BOTH | {"README.md": b"x", "test_x.py": b""}) == first
    assert digest("c", {f"wrapped/{name}": content for name, content in BOTH.items()}) == first
    assert digest("d", BOTH | {"memory/state.py": b"A = 2\n"}) != first
    assert digest("e", BOTH | {"helpers.py": b""}) != first
    assert digest("f", BOTH | {"h.py": b"", "hh.py": b"x"}) != digest(
        "g", BOTH | {"h.py": b"x", "hh.py": b""}
    )


def test_an_earlier_staged_copy_is_never_overwritten(tmp_path: Path) -> None:
    staged(tmp_path, BOTH)
    with pytest.raises(FileExistsError):
        staged(tmp_path, {"memory/state.py": b"other"})
    assert (tmp_path / "staged/alice/memory/state.py").read_bytes() == BOTH["memory/state.py"]


def test_staging_into_the_submissions_own_parent_leaves_it_alone(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", BOTH)
    with pytest.raises(FileExistsError):
        stage(folder, EDITABLE, tmp_path)
    assert (folder / "memory/state.py").read_bytes() == BOTH["memory/state.py"]
