"""The secret seed of the hidden cases: drawn once for a course and kept, so that a regrade meets the same cases."""

import hmac
import os
import secrets
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
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                stream.write(secrets.token_hex(_SEED_BYTES) + "\n")
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


def assignment_seed(seed: bytes, assignment: str) -> bytes:
    """The seed of one assignment; knowing one gives no other away."""
    return hmac.digest(seed, assignment.encode(), "sha256")
