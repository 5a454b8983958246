"""The secret seed of the hidden cases: drawn once for a course and kept, so that a regrade meets the same cases."""

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

SEED_FILE = ".rooflab/course-seed"
_SEED_BYTES = 32


class SeedUnreadable(ValueError):
    """The seed file is damaged; one line says what to do."""


def course_seed(path: Path) -> bytes:
    """The seed kept in `path`, drawn and written there first if there is none.

    Raises:
        SeedUnreadable: the file cannot be read or written, or holds something else.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _draw(path)
        seed = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise SeedUnreadable(
            f"{path}: cannot be used as seed file ({type(error).__name__}), restore it from a backup"
        ) from None
    if len(seed) != _SEED_BYTES:
        raise SeedUnreadable(
            f"{path}: holds {len(seed)} bytes where {_SEED_BYTES} are needed, restore it from a backup"
        )
    return seed


def _draw(path: Path) -> None:
    """Write a new seed in one step: a crash leaves none, and of two at once the first one's stays."""
    descriptor, drawn = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(secrets.token_hex(_SEED_BYTES) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(drawn, path)
    finally:
        os.unlink(drawn)
