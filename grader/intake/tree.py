"""What a submission holds, listed without trusting it: the entries of a folder, and how to read one.

A folder (here) and a zip (grader/intake/archive.py) give the same `Tree`, so that layout and selection are decided
once. Listing opens nothing, follows no link and stops at a fixed number of entries.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.printable import printable, printable_path

MAX_ENTRIES = 20_000
MAX_FILE_BYTES = 1 << 20
MAX_DEPTH = 6  # names in a staged path, the file's own included
WRAPPING_FOLDERS = 2  # a zip of the whole course bundle: rooflab/assignments/memory/state.py

# Folders that are no student's work and can hold copies of everything: never entered, never mentioned.
IGNORED_FOLDERS = frozenset({"__MACOSX", "__pycache__", "node_modules", "site-packages", "venv", "env"})

EntryKind = Literal["file", "link", "special", "too_deep"]


class SubmissionRefused(ValueError):
    """A submission that cannot be graded as it is; `args[0]` is one line naming the input and the remedy."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a tree that is not a folder (save one too deep to enter): `parts` are its path's names."""

    parts: tuple[str, ...]
    kind: EntryKind
    size_bytes: int = 0

    @property
    def path(self) -> str:
        """The path inside the tree, with forward slashes, not yet safe to print."""
        return "/".join(self.parts)


@dataclass(frozen=True)
class Tree:
    """The listed entries of one submission, sorted, and the way to read one of them."""

    shown: str  # the argument, safe to print
    entries: tuple[Entry, ...]
    is_archive: bool
    read: Callable[[Entry], bytes]  # at most MAX_FILE_BYTES; raises SubmissionRefused


def is_ignored_folder(name: str) -> bool:
    """Whether a folder of this name is passed over: dot-folders, environments, caches."""
    return name.startswith(".") or name in IGNORED_FOLDERS


@contextmanager
def open_folder(folder: Path) -> Iterator[Tree]:
    """List a folder; `folder` itself may be a link, nothing below it is followed.

    Raises:
        SubmissionRefused: it or a folder below cannot be read, or it holds more than MAX_ENTRIES entries.
    """
    shown = printable_path(folder)
    entries = tuple(sorted(_walk(folder, shown), key=lambda entry: entry.parts))
    yield Tree(shown, entries, False, lambda entry: _read(folder, entry, shown))


def _walk(folder: Path, shown: str) -> Iterator[Entry]:
    visited = 0
    pending: list[tuple[str, ...]] = [()]
    while pending:
        parents = pending.pop()
        try:
            with os.scandir(os.path.join(folder, *parents)) as found:
                for item in found:
                    visited += 1
                    if visited > MAX_ENTRIES:
                        raise SubmissionRefused(
                            f"{shown}: holds more than {MAX_ENTRIES:,} files: pass one submission's folder, "
                            "without data sets or environments"
                        )
                    parts = (*parents, item.name)
                    if not item.is_dir(follow_symlinks=False):
                        yield _entry(item, parts)
                    elif not is_ignored_folder(item.name):
                        if len(parts) < MAX_DEPTH + WRAPPING_FOLDERS:
                            pending.append(parts)
                        else:
                            yield Entry(parts, "too_deep")
        except OSError as error:
            raise _unreadable(shown, "/".join(parents), error) from None


def _entry(item: os.DirEntry[str], parts: tuple[str, ...]) -> Entry:
    if item.is_symlink():
        return Entry(parts, "link")
    if not item.is_file(follow_symlinks=False):
        return Entry(parts, "special")
    # Only the size of what may be copied is asked for: a stat a file would double the time of a listing.
    return Entry(parts, "file", item.stat(follow_symlinks=False).st_size if item.name.endswith(".py") else 0)


def _read(folder: Path, entry: Entry, shown: str) -> bytes:
    try:
        with os.fdopen(open_regular(Path(folder, *entry.parts), follow=False), "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _unreadable(shown, entry.path, error) from None
    if len(content) > MAX_FILE_BYTES:
        raise SubmissionRefused(f"{shown}: {printable(entry.path)} grew while it was read: grade it again")
    return content


def open_regular(path: Path, *, follow: bool) -> int:
    """Open a regular file for reading and return its descriptor; never waits on a fifo or a device.

    Raises:
        OSError: it cannot be opened, is a link and `follow` is false, or is no regular file.
    """
    # What was listed as a file may be a fifo by now: a blocking open would wait for a writer for ever.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return descriptor


def _unreadable(shown: str, inside: str, error: OSError) -> SubmissionRefused:
    where = f"{shown}: {printable(inside)}" if inside else shown
    return SubmissionRefused(
        f"{where} cannot be read ({error.strerror or type(error).__name__}): "
        "give the grader read permission, or copy the submission anew"
    )
