"""One student's odd or hostile file is named, and everybody else is collected."""

import io
import zipfile

import pytest

from grader.course import downloads
from grader.refusal import BadInput
from tests.course.test_collect import collected
from tests.course.test_downloads import read, zipped

__all__ = ["collected"]

ADA = {"ada_1202_78_state.py": b"x = 1"}
METADATA = (
    "---\nsubmission_1:\n  :submitters:\n  - :sid: ghost\nsubmission_2:\n  :submitters:\n  - :sid: ada\n"
)


def damaged(method=zipfile.ZIP_DEFLATED) -> bytes:
    """A zip whose only file cannot be unpacked, though its directory can be read."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("state.py", bytes(range(256)) * 8)
    content = bytearray(stream.getvalue())
    start = 30 + len("state.py") + (9 if method == zipfile.ZIP_LZMA else 0)
    content[start : start + 16] = b"\xff" * 16
    return bytes(content)


def collected_files(root, student):
    folder = root / "submitted" / student / "memory"
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_zip_with_damaged_data_is_named(collected, tmp_path, method):
    said, code = collected("canvas", {"ghost_1201_77_memory.zip": damaged(method), **ADA})
    assert said[0].startswith("ghost: memory.zip: cannot be read (")
    assert code == 3
    assert collected_files(tmp_path, "ada") == ["state.py"]
    assert not (tmp_path / "submitted" / "ghost").exists()


def test_a_file_and_a_folder_of_one_name_are_not_both_taken(collected, tmp_path):
    clash = zipped({"x.py": b"", "x.py/y.py": b"", "state.py": b""})
    said, code = collected("canvas", {"ghost_1201_77_memory.zip": clash, **ADA})
    assert (said, code) == (["ghost: x.py/y.py: not taken, x.py is a file there"], 3)
    assert collected_files(tmp_path, "ghost") == ["state.py", "x.py"]
    assert collected_files(tmp_path, "ada") == ["state.py"]


def test_nothing_takes_the_place_of_the_time_of_a_hand_in(collected, tmp_path):
    stamp = zipped({"timestamp.txt/state.py": b""})
    said, code = collected("canvas", {"ghost_1201_77_memory.zip": stamp, **ADA})
    assert said == [
        "ghost: timestamp.txt/state.py: not taken, timestamp.txt is a file there",
        "ghost: nothing of it can be collected",
    ]
    assert code == 3
    assert collected_files(tmp_path, "ada") == ["state.py"]


def test_a_name_that_no_file_can_have_is_said(collected):
    said, code = collected("folder", {"ghost/state.py": b"", f"ghost/{'x' * 220}.py": b"", "ada.py": b""})
    assert code == 3
    assert said == [f"ghost: {'x' * 59}…: not taken, no file can be called so"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({f"part{index}.py": b" " * (1 << 20) for index in range(65)}, "holds more than 64 MiB"),
        ({f"m{index}.py": b"" for index in range(2001)}, "holds more than 2,000 notebooks and .py files"),
    ],
    ids=["bytes", "files"],
)
@pytest.mark.parametrize("format_name", ["canvas", "folder"])
def test_a_submission_that_unpacks_to_too_much_is_named_and_not_written(
    collected, tmp_path, format_name, files, said
):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    handed_in = {"ghost_1201_77_memory.zip": stream.getvalue(), "ghost_1201_79_late.py": b"", **ADA}
    if format_name == "folder":
        handed_in = {f"ghost/{name}": content for name, content in files.items()} | {"ada/state.py": b""}
    lines, code = collected(format_name, handed_in)
    assert (lines, code) == ([f"ghost: {said}, nothing of it was taken"], 3)
    assert not (tmp_path / "submitted" / "ghost").exists()
    assert collected_files(tmp_path, "ada") == ["state.py"]


def test_no_more_is_unpacked_once_it_is_too_much(monkeypatch):
    monkeypatch.setattr(downloads, "MAX_SUBMISSION_BYTES", 10)
    unpacked = []
    member = downloads._member

    def counted(archive, info):
        read_it = member(archive, info)
        return lambda: unpacked.append(info.filename) or read_it()

    monkeypatch.setattr(downloads, "_member", counted)
    found = downloads.Found("ghost")
    downloads.add_file(
        found, downloads.PurePosixPath("a.zip"), zipped({f"m{number}.py": b"123456" for number in range(9)})
    )
    assert found.too_much
    assert unpacked == ["m0.py", "m1.py"]


def test_a_student_s_file_called_as_gradescope_s_own_table_is_none(collected, tmp_path):
    export = {
        "export/submission_metadata.yml": METADATA.encode(),
        "export/submission_1/state.py": b"x = 1",
        "export/submission_2/state.py": b"x = 1",
        "export/submission_2/submission_metadata.yml": b"--- 1",
    }
    assert collected("gradescope", export) == ([], 0)
    assert collected_files(tmp_path, "ghost") == collected_files(tmp_path, "ada") == ["state.py"]


def test_two_exports_in_one_archive_are_refused(tmp_path):
    two = {f"{name}/submission_metadata.yml": METADATA.encode() for name in ("a", "b")}
    with pytest.raises(BadInput, match=r"a/submission_metadata\.yml and b/.*: two exports, name one"):
        read(tmp_path, "gradescope", two)


def test_a_date_that_no_calendar_has_is_no_time(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zipfile.ZipInfo("ghost_1201_77_state.py", (2026, 0, 1, 0, 0, 0)), b"x = 1")
    (tmp_path / "download.zip").write_bytes(stream.getvalue())
    (one,), strange = downloads.canvas(downloads.read_archive(tmp_path / "download.zip"))
    assert (one.at, strange) == (None, [])
