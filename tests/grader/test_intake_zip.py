"""A zip, honest, broken or hostile, becomes the same staged files as its folder or one line of refusal."""

import io
import random
import shutil
import stat
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.intake import StagedSubmission, SubmissionRefused, stage
from tests.drawn import DRAWN

EDITABLE = {"memory": ("state.py", "parameters.py")}
BOTH = {"memory/state.py": b"A = 1\n", "memory/parameters.py": b"B = 2\r\n"}


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_entry(mode: int, name: str = "memory/state.py", content: bytes = b"/etc/passwd") -> bytes:
    """A zip whose entry `name` carries a Unix file mode."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, content)
        archive.writestr("memory/parameters.py", b"")
    return buffer.getvalue()


def staged(tmp_path: Path, content: bytes, name: str = "alice.zip") -> StagedSubmission:
    (tmp_path / name).write_bytes(content)
    return stage(tmp_path / name, EDITABLE, tmp_path / "staged")


def refusal(tmp_path: Path, content: bytes, name: str = "alice.zip") -> str:
    with pytest.raises(SubmissionRefused) as caught:
        staged(tmp_path, content, name)
    assert not (tmp_path / "staged").exists()
    line: str = caught.value.args[0]
    assert line.isprintable()
    return line


def test_a_zip_and_its_folder_give_the_same_files_notes_and_digest(tmp_path: Path) -> None:
    files = BOTH | {"helpers.py": b"", "torch.py": b"", "test_x.py": b"", "1/2/3/4/5/6/7/8/9/deep.py": b""}
    for name, content in files.items():
        (tmp_path / "alice" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "alice" / name).write_bytes(content)
    shutil.make_archive(str(tmp_path / "bob"), "zip", tmp_path / "alice")
    folder = stage(tmp_path / "alice", EDITABLE, tmp_path / "staged")
    archive = stage(tmp_path / "bob.zip", EDITABLE, tmp_path / "staged")
    assert archive.id == "bob"
    assert (archive.files, archive.notes, archive.sha256) == (folder.files, folder.notes, folder.sha256)
    assert (archive.root / "memory/parameters.py").read_bytes() == b"B = 2\r\n"


@pytest.mark.parametrize("wrapping", ["", "./", "alice/", "rooflab/assignments/"])
def test_wrapping_folders_are_seen_through(tmp_path: Path, wrapping: str) -> None:
    result = staged(tmp_path, zipped({wrapping + name: content for name, content in BOTH.items()}))
    assert result.files == tuple(sorted(BOTH))


def test_what_a_mac_adds_is_ignored(tmp_path: Path) -> None:
    extra = {"__MACOSX/memory/._state.py": b"\x00", "memory/._state.py": b"\x00", ".DS_Store": b"\x00"}
    assert staged(tmp_path, zipped(BOTH | extra)).files == tuple(sorted(BOTH))


def test_backslashes_of_an_old_windows_zip_separate_folders(tmp_path: Path) -> None:
    content = zipped({"alice!memory!state.py": b"x"}).replace(b"!", b"\\")
    assert staged(tmp_path, content).files == ("memory/state.py",)


def test_a_zip_counts_by_content_not_by_suffix(tmp_path: Path) -> None:
    assert staged(tmp_path, zipped(BOTH), "alice").id == "alice"
    assert "not a readable zip" in refusal_of_other(tmp_path, b"Rar!\x1a\x07", "bob.zip")
    assert "neither a folder nor a zip" in refusal_of_other(tmp_path, b"\x1f\x8b", "bob.tar.gz")
    assert "a single file is no submission" in refusal_of_other(tmp_path, b"x = 1", "state.py")


def refusal_of_other(tmp_path: Path, content: bytes, name: str) -> str:
    (tmp_path / "other").mkdir(exist_ok=True)
    return refusal(tmp_path / "other", content, name)


def test_several_submissions_in_one_zip_are_refused(tmp_path: Path) -> None:
    line = refusal(tmp_path, zipped({f"s{n}/memory/state.py": b"" for n in range(12)}))
    assert "holds 12 submissions, not one (s0, s1, ...): unpack it and pass its folders" in line


def test_an_empty_zip_says_so(tmp_path: Path) -> None:
    assert "it holds no files" in refusal(tmp_path, zipped({}))


@pytest.mark.parametrize(
    "name",
    [
        "../memory/state.py",
        "memory/../../state.py",
        "x/..",
        "/memory/state.py",
        "C:/memory/state.py",
        "c:state.py",
        "..\\memory\\state.py",
        "\\\\host\\share\\state.py",
    ],
)
def test_a_name_that_leaves_the_zip_is_refused(tmp_path: Path, name: str) -> None:
    assert "points outside of the zip" in refusal(tmp_path, zipped(BOTH | {name: b"evil"}))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alice.zip"]


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644, stat.S_IFCHR | 0o666])
def test_a_link_or_device_entry_counts_as_missing(tmp_path: Path, mode: int) -> None:
    result = staged(tmp_path, with_entry(mode))
    assert result.files == ("memory/parameters.py",)
    assert result.missing == ("memory/state.py",)
    assert result.notes[0].startswith("memory/state.py: counts as missing")


def test_modes_are_not_taken_over(tmp_path: Path) -> None:
    result = staged(tmp_path, with_entry(stat.S_IFREG | 0o4777))
    assert (result.root / "memory/state.py").stat().st_mode & 0o7111 == 0


def test_one_name_twice_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("memory/state.py", b"shown")
        archive.writestr("memory/state.py", b"graded")
    assert "memory/state.py is in the zip twice" in refusal(tmp_path, buffer.getvalue())


def test_one_name_in_two_cases_or_as_file_and_folder_is_refused(tmp_path: Path) -> None:
    line = refusal(tmp_path, zipped(BOTH | {"memory/State.py": b""}))
    assert "clash" in line
    line = refusal(tmp_path, zipped(BOTH | {"lib.py": b"", "lib.py/a.py": b""}))
    assert "lib.py and lib.py clash" in line


def test_a_password_is_named_as_the_reason(tmp_path: Path) -> None:
    content = bytearray(zipped(BOTH))
    for signature, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        while at >= 0:
            content[at + flags_at] |= 1
            at = content.find(signature, at + 4)
    assert "is password-protected" in refusal(tmp_path, bytes(content))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_can_ask_for_gigabytes_are_refused(tmp_path: Path, method: int) -> None:
    assert f"method {method}" in refusal(tmp_path, zipped(BOTH, method))


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    result = staged(tmp_path, zipped(BOTH | {"memory/state.py": bytes(200_000_000)}))
    assert result.files == ("memory/parameters.py",)
    assert result.notes == ("memory/state.py: not copied, larger than 1 MiB",)


def test_a_bomb_that_understates_its_size_is_refused(tmp_path: Path) -> None:
    content = bytearray(zipped({"memory/state.py": bytes(50_000_000)}))
    for signature, size_at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", content, content.find(signature) + size_at, 1000)
    assert "not a readable zip (Bad CRC-32" in refusal(tmp_path, bytes(content))


def test_zips_inside_are_not_looked_into(tmp_path: Path) -> None:
    result = staged(tmp_path, zipped(BOTH | {"inner.zip": zipped({"memory/helpers.py": b""})}))
    assert result.files == tuple(sorted(BOTH))
    assert result.notes == ("inner.zip: not copied, only .py files are",)


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    assert "more than 20,000 files" in refusal(tmp_path, zipped(dict.fromkeys(map(str, range(20_001)), b"")))


def test_an_end_record_that_claims_gigabytes_of_names_is_refused_unread(tmp_path: Path) -> None:
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 3 << 30, 0, 0)
    path = tmp_path / "alice.zip"
    with path.open("wb") as file:
        file.truncate(3 << 30)
        file.seek(0, io.SEEK_END)
        file.write(end)
    with pytest.raises(SubmissionRefused, match=r"more than 20,000 files or 4 MiB of names"):
        stage(path, EDITABLE, tmp_path / "staged")


def test_a_name_of_thirty_thousand_folders_is_left_out(tmp_path: Path) -> None:
    result = staged(tmp_path, zipped(BOTH | {"a/" * 30_000 + "x.py": b""}))
    assert result.notes == ("a/a/a/a/a/a/a/a: not copied, more than 6 names deep",)


def test_names_that_obey_the_terminal_or_fit_no_file_system_are_left_out(tmp_path: Path) -> None:
    names = ("\x1b[2Jx.py", "\u202eyp.x.py", "a\nb.py", "n" * 300 + ".py", "con:x.py")
    result = staged(tmp_path, zipped(BOTH | dict.fromkeys(names, b"")))
    assert result.files == tuple(sorted(BOTH))
    assert len(result.notes) == len(names)
    assert all(note.isprintable() for note in result.notes)


def test_a_refused_zip_leaves_nothing_behind(tmp_path: Path) -> None:
    content = bytearray(zipped(BOTH, zipfile.ZIP_STORED))
    content[content.find(b"B = 2")] ^= 1  # the second file's CRC no longer holds
    assert "Bad CRC-32" in refusal(tmp_path, bytes(content))


VALID = zipped(BOTH | {"helpers.py": b"x = 1\n" * 200, "alice/notes.txt": b"", "memory/test_x.py": b""})


def outcome(argument: Path, into: Path) -> tuple[StagedSubmission | None, str]:
    try:
        return stage(argument, EDITABLE, into), ""
    except SubmissionRefused as refused:
        return None, str(refused)


def only_refused_or_staged(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "alice.zip").write_bytes(content)
        result, line = outcome(Path(folder) / "alice.zip", Path(folder) / "staged")
        if result is None:
            assert line.isprintable()
            assert not (Path(folder) / "staged").exists()
            return
        on_disk = {p.relative_to(result.root).as_posix() for p in result.root.rglob("*") if p.is_file()}
        assert on_disk == set(result.files)
        assert sorted(p.name for p in Path(folder).iterdir()) == ["alice.zip", "staged"]
        assert all(name.endswith(".py") for name in result.files)


@DRAWN
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_staged_or_refused(content: bytes, with_end: bool) -> None:
    only_refused_or_staged(content + (VALID[-22:] if with_end else b""))


@settings(DRAWN, max_examples=150)
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_a_mutated_zip_is_staged_or_refused(source: random.Random, mutations: int) -> None:
    content = bytearray(VALID)
    for _ in range(mutations):
        # Half of the hits go to the table of contents, which is where parsing goes wrong.
        start = source.choice((0, VALID.find(b"PK\x01\x02")))
        at = source.randrange(start, len(content))
        action = source.randrange(4)
        if action == 0:
            content[at] = source.randrange(256)
        elif action == 1:
            content[at : at + 4] = source.choice((b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"PK\x01\x02"))
        elif action == 2:
            del content[at : at + source.randrange(1, 40)]
        else:
            content[at:at] = source.randbytes(source.randrange(1, 40))
        if len(content) <= start + 1:
            break
    only_refused_or_staged(bytes(content))


@DRAWN
@given(
    st.dictionaries(
        st.lists(
            st.sampled_from(["memory", "state.py", "a", "A", "..", ".", "", "x.py", "torch.py", "C:", "\\"]),
            min_size=1,
            max_size=5,
        )
        .map("/".join)
        .filter(bool),
        st.binary(max_size=50),
        max_size=8,
    )
)
def test_any_names_are_staged_or_refused(files: dict[str, bytes]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        only_refused_or_staged(zipped(files | {"memory/state.py": b""}))
