"""Links, devices, floods and unprintable names in a folder: bounded, never followed, never opened."""

import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.intake import SubmissionRefused, stage

EDITABLE = {"memory": ("state.py", "parameters.py"), "roofline": ("ridge.py",)}
BOTH = {"memory/state.py": b"A = 1\n", "memory/parameters.py": b"B = 2\n", "roofline/ridge.py": b"C = 3\n"}


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def refusal(tmp_path: Path, argument: Path) -> str:
    """The one line of the refusal, after checking that nothing was staged."""
    with pytest.raises(SubmissionRefused) as caught:
        stage(argument, EDITABLE, tmp_path / "staged")
    assert not (tmp_path / "staged").exists()
    line: str = caught.value.args[0]
    assert line.isprintable()
    return line


def test_a_linked_editable_file_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("SECRET = 1")
    folder = write(tmp_path / "alice", {"memory/parameters.py": b""})
    (folder / "memory/state.py").symlink_to(tmp_path / "secret.py")
    result = stage(folder, EDITABLE, tmp_path / "staged")
    assert result.files == ("memory/parameters.py",)
    assert result.notes == ("memory/state.py: counts as missing, a link is not followed",)


def test_linked_folders_are_not_entered_even_in_a_circle(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"state.py": b"SECRET = 1"})
    folder = write(tmp_path / "alice", {"roofline/ridge.py": b""})
    (folder / "memory").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    result = stage(folder, EDITABLE, tmp_path / "staged")
    assert result.files == ("roofline/ridge.py",)
    assert "memory: not copied, a link is not followed" in result.notes


def test_a_submission_of_links_only_says_that_they_are_not_followed(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", {})
    (folder / "memory").symlink_to(write(tmp_path / "outside", {"state.py": b""}))
    assert "links are not followed" in refusal(tmp_path, folder)


def test_the_argument_itself_may_be_a_link_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(write(tmp_path / "v3", BOTH))
    result = stage(tmp_path / "latest", EDITABLE, tmp_path / "staged")
    assert result.id == "latest"
    assert result.files == tuple(sorted(BOTH))


def test_a_fifo_or_socket_in_place_of_a_file_is_never_opened(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", {"roofline/ridge.py": b"", "memory/keep.py": b""})
    os.mkfifo(folder / "memory/state.py")
    os.mkfifo(folder / "memory/pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        # A socket's path has at most 108 bytes, fewer than a test's folder may take: hence a relative one.
        previous = Path.cwd()
        os.chdir(folder)
        listener.bind("sock.py")
        os.chdir(previous)
        result = stage(folder, EDITABLE, tmp_path / "staged")
    assert result.files == ("memory/keep.py", "roofline/ridge.py")
    assert result.notes == (
        "memory/state.py: counts as missing, it is no regular file",
        "memory/pipe: not copied, it is no regular file",
        "sock.py: not copied, it is no regular file",
    )


def test_a_fifo_or_device_as_the_argument_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alice.zip")
    assert "not a regular file" in refusal(tmp_path, tmp_path / "alice.zip")
    assert "not a regular file" in refusal(tmp_path, Path("/dev/zero"))


def test_a_sparse_file_of_ten_gigabytes_is_not_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", BOTH)
    with (folder / "memory/state.py").open("wb") as file:
        file.truncate(10 << 30)
    result = stage(folder, EDITABLE, tmp_path / "staged")
    assert result.missing == ("memory/state.py",)


def test_more_than_twenty_thousand_files_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", BOTH | {"data/first": b""})
    for n in range(20_001):
        os.link(folder / "data/first", folder / f"data/{n}")
    assert "holds more than 20,000 files" in refusal(tmp_path, folder)


def test_deeply_nested_folders_are_not_walked(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", BOTH)
    previous = Path.cwd()
    os.chdir(folder)
    # Deeper would break pytest's own removal of the folder, which recurses.
    for _ in range(200):
        os.mkdir("deep")
        os.chdir("deep")
    os.chdir(previous)
    assert stage(folder, EDITABLE, tmp_path / "staged").files == tuple(sorted(BOTH))


def test_names_that_are_not_utf8_or_obey_the_terminal_are_left_out_and_shown_safely(tmp_path: Path) -> None:
    folder = write(tmp_path / "alice", BOTH)
    for name in (b"caf\xe9.py", b"\x1b[2Jclear.py", "\u202eyp.x.py".encode(), b"new\nline.py"):
        (folder / os.fsdecode(name)).write_bytes(b"")
    result = stage(folder, EDITABLE, tmp_path / "staged")
    assert result.files == tuple(sorted(BOTH))
    assert len(result.notes) == 4
    assert all(note.isprintable() for note in result.notes)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything: become somebody else for a moment, where the tests run as root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("locked", ["", "memory", "memory/state.py"])
def test_what_may_not_be_read_is_refused_with_its_name(locked: str) -> None:
    # pytest's own folder is closed to everybody else, which would be refused earlier.
    with tempfile.TemporaryDirectory() as open_to_all:
        Path(open_to_all).chmod(0o777)
        folder = write(Path(open_to_all) / "alice", BOTH)
        (folder / locked).chmod(0)
        with as_nobody():
            line = refusal(Path(open_to_all), folder)
        (folder / locked).chmod(0o700)
    assert "cannot be read (Permission denied)" in line
    assert locked in line
