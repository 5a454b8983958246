"""What a submission imports and calls that deserves a look, by its syntax; advice for staff and never a verdict.

Nothing is judged by it: an attack can be written without any of these words, and honest code may have a reason for
each. The source is parsed in a process of its own, since source can be written that ends the interpreter that parses
it; the words are in `audit_reading`.
"""

import functools
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from grader.printable import printable
from grader.report import ReviewNote
from specs import model_names, recipes
from specs.published import published

_READING = Path(__file__).with_name("audit_reading.py")
_TIMEOUT_S = 20.0
_LARGE = 100_000.0  # as there
_NOTES = TypeAdapter(tuple[ReviewNote, ...])


def audited(root: Path, files: Sequence[str]) -> tuple[ReviewNote, ...]:
    """The notes on a submission's files, looks first; one note where they cannot be read at all."""
    names, numbers = published_cases()
    task = {"root": str(root), "files": list(files), "names": sorted(names), "numbers": sorted(numbers)}
    command = [sys.executable, "-I", "-S", "-B", str(_READING)]
    try:
        done = subprocess.run(
            command, input=json.dumps(task), capture_output=True, text=True, timeout=_TIMEOUT_S
        )
        found = _NOTES.validate_json(done.stdout)
    except subprocess.TimeoutExpired:
        why = f"reading its source takes longer than {_TIMEOUT_S:g} s"
    except ValidationError:  # a signal for what ends the interpreter, an exit code for a fault of our own
        why = "its source ends what reads it" if done.returncode < 0 else "the audit itself failed"
    else:
        return tuple(_shown(each) for each in found)
    return (ReviewNote(file="", line=0, weight="look", what=f"cannot be audited: {why}"),)


@functools.cache
def published_cases() -> tuple[frozenset[str], frozenset[float]]:
    """What a table of the visible tests' answers is made of: names of models and recipes, numbers of many digits."""
    expected = (value.expected for value in published() if isinstance(value.expected, int | float))
    numbers = frozenset(float(each) for each in expected if abs(each) >= _LARGE)
    return frozenset({*model_names(), *recipes()}), numbers


def _shown(note: ReviewNote) -> ReviewNote:
    return note.model_copy(update={"file": printable(note.file, 200), "what": printable(note.what, 200)})
