"""Reads a zip that may be hostile: lists its members, reads one at a time under a cap, extracts nothing.

Nothing a zip declares is believed. Its table of contents is read under a cap before zipfile parses it, a
member is decompressed at most one byte beyond the limit, names are split and checked here, and nothing is
written: the caller decides where content goes.
"""

import io
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.intake.tree import (
    MAX_DEPTH,
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    WRAPPING_FOLDERS,
    Entry,
    EntryKind,
    SubmissionRefused,
    Tree,
    is_ignored_folder,
    open_regular,
)
from grader.printable import printable, printable_path

# One read by zipfile: the table of contents is one. MAX_ENTRIES entries with names of 100 characters take
# 3.5 MB; 4 MiB of the smallest possible entries are 91,000, parsed in under a second.
_MAX_READ_BYTES = 4 << 20
# Deflate grows what it cannot shrink by 5 bytes in 16 KiB or less: more input is no file within the cap, but
# can be gigabytes of empty blocks.
_MAX_COMPRESSED_BYTES = MAX_FILE_BYTES + (64 << 10)
_ENCRYPTED = 0x1
# bzip2 and LZMA members can ask for gigabytes of dictionary before the first byte comes out.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class _CappedFile(io.FileIO):
    """A file that refuses to read much at once: zipfile asks for as many bytes as the archive claims."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = _MAX_READ_BYTES + 1 if size is None or size < 0 else size
        content = super().read(min(wanted, _MAX_READ_BYTES + 1)) or b""
        if len(content) > _MAX_READ_BYTES:
            raise _TooLongRead
        return content


class _TooLongRead(Exception):
    """Only an absurd table of contents makes zipfile read so much at once."""


@contextmanager
def open_archive(path: Path) -> Iterator[Tree]:
    """List a zip file, which stays open inside the `with` block for `Tree.read`.

    Raises:
        SubmissionRefused: not a zip (whatever its suffix says), damaged, too many entries, a name that leaves
            the archive or occurs twice; from `Tree.read`: a password, another compression than deflate.
    """
    shown = printable_path(path)
    try:
        file = _CappedFile(open_regular(path, follow=True))
    except OSError as error:
        raise SubmissionRefused(
            f"{shown}: cannot be read ({error.strerror}): pass a folder or a zip that the grader may read"
        ) from None
    with file:
        archive = _parse(file, path, shown)
        members: dict[tuple[str, ...], tuple[Entry, zipfile.ZipInfo]] = {}
        for info in archive.infolist():
            entry = _entry(info, shown)
            if entry is None:
                continue
            if entry.parts in members and entry.kind != "too_deep":
                raise SubmissionRefused(
                    f"{shown}: {printable(entry.path)} is in the zip twice: make a new zip"
                )
            members[entry.parts] = (entry, info)
        entries = tuple(entry for _, (entry, _) in sorted(members.items(), key=lambda item: item[0]))
        yield Tree(shown, entries, True, lambda entry: _read(archive, members[entry.parts][1], shown))


def _parse(file: _CappedFile, path: Path, shown: str) -> zipfile.ZipFile:
    try:
        if not zipfile.is_zipfile(file):
            raise SubmissionRefused(_no_zip(path, shown))
        archive = zipfile.ZipFile(file)
    except SubmissionRefused:
        raise
    except _TooLongRead:
        raise _too_many(shown) from None
    except Exception as error:  # zipfile lets through whatever its parsing trips over, a dozen types by now
        raise _damaged(shown, error) from None
    if len(archive.infolist()) > MAX_ENTRIES:
        raise _too_many(shown)
    return archive


def _entry(info: zipfile.ZipInfo, shown: str) -> Entry | None:
    """The entry for one member, or None for a folder and for what lies in an ignored folder."""
    # Zips made on Windows by old .NET separate with backslashes, so a backslash separates here too, and the
    # same checks then apply to "..\\..\\x" as to "../../x".
    name = info.filename.replace("\\", "/")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    drive = len(name) > 1 and name[1] == ":" and name[0].isalpha()
    if name.startswith("/") or drive or ".." in parts:
        raise SubmissionRefused(
            f"{shown}: the entry {printable(name)} points outside of the zip: zip the folder itself again"
        )
    # A folder is entered this far and no further, so a zip is looked at this far too.
    seen = parts[: MAX_DEPTH + WRAPPING_FOLDERS]
    if not parts or name.endswith("/") or any(is_ignored_folder(part) for part in seen[: len(parts) - 1]):
        return None
    if len(seen) < len(parts):
        return Entry(seen, "too_deep")
    size_bytes = info.file_size if info.compress_size <= _MAX_COMPRESSED_BYTES else info.compress_size
    return Entry(parts, _kind(info), size_bytes)


def _kind(info: zipfile.ZipInfo) -> EntryKind:
    unix_mode = info.external_attr >> 16
    if stat.S_IFMT(unix_mode) in (0, stat.S_IFREG):
        return "file"
    return "link" if stat.S_ISLNK(unix_mode) else "special"


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, shown: str) -> bytes:
    if info.flag_bits & _ENCRYPTED:
        raise SubmissionRefused(f"{shown}: is password-protected: zip it again without a password")
    if info.compress_type not in _METHODS:
        raise SubmissionRefused(
            f"{shown}: {printable(info.filename)} is compressed in a way that is not read here "
            f"(method {info.compress_type}): zip it again with the usual deflate"
        )
    try:
        with archive.open(info) as member:
            content = member.read(MAX_FILE_BYTES + 1)
    except Exception as error:  # as above: zlib.error, BadZipFile, struct.error, EOFError, ...
        raise _damaged(shown, error) from None
    if len(content) > MAX_FILE_BYTES:
        raise SubmissionRefused(
            f"{shown}: {printable(info.filename)} unpacks to more than it declares: zip the folder again"
        )
    return content


def _no_zip(path: Path, shown: str) -> str:
    if path.suffix.lower() == ".zip":
        return f"{shown}: not a readable zip (damaged, cut short or something else): zip the folder again"
    if path.suffix.lower() == ".py":
        return f"{shown}: a single file is no submission: pass the folder that <assignment>/<file> lies in"
    return f"{shown}: neither a folder nor a zip: unpack it and pass the folder"


def _too_many(shown: str) -> SubmissionRefused:
    return SubmissionRefused(
        f"{shown}: holds more than {MAX_ENTRIES:,} files or {_MAX_READ_BYTES >> 20} MiB of names: "
        "zip the assignments' files only, without environments"
    )


def _damaged(shown: str, error: Exception) -> SubmissionRefused:
    reason = printable(str(error), limit=80) or type(error).__name__
    return SubmissionRefused(f"{shown}: not a readable zip ({reason}): zip the folder again")
