"""Turns a submission argument, a folder or a zip, into a staged copy of the files that may be graded.

What is staged is what the worker will see: the assignments' editable files and the other .py files beside
them, byte for byte. What stays behind is decided in grader/intake/selection.py and said in `notes`. A submission
that cannot be graded is refused in one line; the input is never changed.
"""

import hashlib
import os
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from grader.intake.archive import open_archive
from grader.intake.layout import editable_paths, find_layout
from grader.intake.selection import MAX_NAME_BYTES, choose
from grader.intake.tree import SubmissionRefused, Tree, open_folder
from grader.printable import printable_path

__all__ = ["StagedSubmission", "SubmissionRefused", "stage", "submission_id"]

MAX_NOTES = 20
MAX_ID_CHARACTERS = 100


@dataclass(frozen=True)
class StagedSubmission:
    """A submission ready to be mounted for a worker; paths are relative to `root`, with forward slashes."""

    id: str
    source: Path
    root: Path
    files: tuple[str, ...]  # copied, sorted
    missing: tuple[str, ...]  # editable files that are not among them
    notes: tuple[str, ...]  # what was left out and why, one printable line each, weightiest first
    sha256: str  # of names and contents of `files`; the same for a folder and its zip


def submission_id(argument: Path) -> str:
    """Return the folder's name, or the zip's without its suffix, made safe as a file name.

    Letters of any script, digits, spaces and `_-.+@` stay, anything else becomes `_`. Two arguments may have
    the same id: whoever takes several has to compare.

    Raises:
        SubmissionRefused: the path has no name of its own, or one with control characters or too long.
    """
    name = argument.name
    if name in ("", ".", ".."):
        raise SubmissionRefused(
            f"'{printable_path(argument)}' has no name to file the report under: pass the folder by its name"
        )
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise SubmissionRefused(f"{printable_path(argument)}: has control characters in its name: rename it")
    if name.lower().endswith(".zip") and not os.path.isdir(argument):
        name = name[: -len(".zip")]
    name = unicodedata.normalize("NFC", name)
    safe = "".join(character if _stays_in_id(character) else "_" for character in name)
    safe = safe.lstrip(" ").rstrip(" .")
    # A leading dot hides the folder, and a spreadsheet reads a leading + - @ in summary.csv as a formula.
    if safe[:1] in (".", "+", "-", "@"):
        safe = "_" + safe[1:]
    if not any(character.isalnum() for character in safe):
        raise SubmissionRefused(f"{printable_path(argument)}: no letter or digit in its name: rename it")
    if len(safe) > MAX_ID_CHARACTERS or len(safe.encode()) > MAX_NAME_BYTES:
        raise SubmissionRefused(
            f"{printable_path(argument)}: its name is over {MAX_ID_CHARACTERS} characters: rename it"
        )
    return safe


def _stays_in_id(character: str) -> bool:
    # Combining marks (category M) belong to letters in many scripts, though not alphanumeric by themselves.
    return character.isalnum() or character in " _-.+@" or unicodedata.category(character).startswith("M")


def stage(argument: Path, editable: Mapping[str, Sequence[str]], into: Path) -> StagedSubmission:
    """Copy what may be graded of `argument`, a folder or a zip, to `into/<id>`.

    Args:
        editable: assignment -> names of its editable files.
        into: a folder of the caller's for staged copies; made if need be.

    Raises:
        SubmissionRefused: it cannot be read, or what to grade in it is not clear; nothing was written.
        FileExistsError: `into/<id>` is there already (stale, or a second submission of the same id).
    """
    identity = submission_id(argument)
    with _opened(argument) as tree:
        layout = find_layout(tree, editable)
        chosen, notes = choose(tree, layout, editable)
        contents = {"/".join(path): tree.read(entry) for path, entry in sorted(chosen.items())}
    _write(contents, into / identity)
    return StagedSubmission(
        id=identity,
        source=argument,
        root=into / identity,
        files=tuple(sorted(contents)),
        missing=tuple(path for path in map("/".join, editable_paths(editable)) if path not in contents),
        notes=_capped(notes),
        sha256=_digest(contents),
    )


def _opened(argument: Path) -> AbstractContextManager[Tree]:
    shown = printable_path(argument)
    try:
        if argument.is_dir():
            return open_folder(argument)
        argument.stat()
    except FileNotFoundError:
        raise SubmissionRefused(f"{shown}: no such folder or zip") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SubmissionRefused(f"{shown}: cannot be read ({reason}): pass a folder or a zip") from None
    return open_archive(argument)


def _write(contents: Mapping[str, bytes], root: Path) -> None:
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir()
    try:
        for name, content in contents.items():
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except BaseException:
        shutil.rmtree(root)
        raise


def _digest(contents: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(contents):
        # Lengths keep ("ab", "c") and ("a", "bc") apart.
        encoded = name.encode()
        digest.update(b"%d %d\n" % (len(encoded), len(contents[name])) + encoded + contents[name])
    return digest.hexdigest()


def _capped(notes: Sequence[str]) -> tuple[str, ...]:
    if len(notes) <= MAX_NOTES:
        return tuple(notes)
    return (*notes[:MAX_NOTES], f"and {len(notes) - MAX_NOTES} more")
