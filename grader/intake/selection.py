"""Decides which entries of a submission are copied for grading, and says which are not and why.

Copied are .py files below the root that was found, within limits. Left behind is what could steer Python or
pytest, pass for a part of the kit, or fill a disk.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from grader.intake.layout import Layout, Parts, editable_paths, folded
from grader.intake.lookalikes import beside_the_graded, near_misses
from grader.intake.tree import MAX_DEPTH, MAX_FILE_BYTES, Entry, SubmissionRefused, Tree
from grader.printable import printable

MAX_FILES = 200
MAX_TOTAL_BYTES = 5 << 20
# A file name has 255 bytes on Linux; what is made of one (an id, a copy) may get a suffix.
MAX_NAME_BYTES = 200

# Run by Python or pytest for being there, not for being imported by the student's code.
_RUN_UNASKED = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py", "setup.py", "__main__.py"})
_KIT = frozenset({"grader", "specs", "kernels_ref", "assignments", "solutions", "rooflab"})
# The staged copy comes last on sys.path, so these would shadow nothing: left out to tell the student so.
# Names of the standard library stay, since `from .types import Shape` finds a helper called types.py.
_LIBRARIES = frozenset(
    {"torch", "triton", "numpy", "pydantic", "pydantic_core", "yaml", "pytest", "_pytest", "hypothesis"}
)
# Python imports or reads these from a folder on sys.path; a zip holds what was not looked into.
_LOADABLE_SUFFIXES = (".pth", ".so", ".pyd", ".pyc", ".zip")
# What the kit hands out or students write beside the code; any other file may be missed by the code.
_NO_DATA = frozenset(
    {".md", ".txt", ".rst", ".pdf", ".docx", ".odt", ".html", ".ipynb", ".svg", ".png", ".jpg", ".jpeg"}
)
_HANDED_OUT = "wrong_values.json"
"""What a student's bundle keeps hints by: data, and not the student's."""
_NOT_A_FILE = {
    "link": "a link is not followed",
    "special": "it is no regular file",
    "too_deep": f"more than {MAX_DEPTH} names deep",
}


class _Note(NamedTuple):
    weight: int  # 0: an editable file is affected; 1: something odd; 2: expected in an honest submission
    text: str


def choose(
    tree: Tree, layout: Layout, editable: Mapping[str, Sequence[str]]
) -> tuple[dict[Parts, Entry], list[str]]:
    """Return the entries to copy by staged path, and a printable line for each left behind, weightiest first.

    Raises:
        SubmissionRefused: two of them would be one file where upper and lower case are the same.
    """
    wanted = frozenset(editable_paths(editable))
    spelling = {folded(path): path for path in wanted}
    notes: dict[str, _Note] = {}  # keyed by what is left out, so that a folder is named once
    candidates: list[tuple[Parts, Entry]] = []
    for entry in tree.entries:
        path = layout.staged(entry)
        if path is None:
            if entry.path.endswith(".zip"):
                notes[entry.path] = _Note(1, f"{printable(entry.path)}: not looked into")
            continue
        if path[-1].startswith("."):  # no import finds it: editors' and macOS's own files (._state.py)
            continue
        shown = "/".join(path)
        if path not in wanted:
            left_out = _left_out(path, entry, editable)
            if left_out is not None:
                what, weight, why = left_out
                notes.setdefault(what, _Note(weight, f"{printable(what)}: not copied, {why}"))
                continue
            if not shown.endswith(".py"):
                continue
            if folded(path) in spelling:
                expected = "/".join(spelling[folded(path)])
                notes[shown] = _Note(0, f"{printable(shown)}: is not {expected}, upper and lower case differ")
        elif entry.kind != "file":
            notes[shown] = _Note(0, f"{shown}: counts as missing, {_NOT_A_FILE[entry.kind]}")
            continue
        candidates.append((path, entry))
    taken: list[tuple[Parts, Entry]] = []
    total_bytes = 0
    # Editable files first, then what lies nearest, so that a heap of other files costs the student nothing.
    for path, entry in sorted(candidates, key=lambda one: (one[0] not in wanted, len(one[0]), one[0])):
        limit = _over_limit(path, entry, len(taken), total_bytes)
        if limit is not None:
            shown = "/".join(path)
            notes[shown] = _Note(0 if path in wanted else 1, f"{printable(shown)}: not copied, {limit}")
            continue
        taken.append((path, entry))
        total_bytes += entry.size_bytes
    graded = {path for path, _ in taken if path in wanted}
    for name, text in beside_the_graded(tree, layout, graded):
        notes[name] = _Note(0, text)
    for name, text in near_misses(tree, layout, wanted - {path for path, _ in candidates}):
        if name not in notes or notes[name].weight:  # a link, say, has its reason
            notes[name] = _Note(0, text)
    _refuse_clashes(tree, (path for path, _ in taken))
    if layout.moved:
        moved = ", ".join(f"{assignment}/{name}" for name, assignment in sorted(layout.moved.items()))
        notes[""] = _Note(1, f"no assignment folder: files taken as {printable(moved)}")
    return dict(taken), [note.text for note in sorted(notes.values())]


def _left_out(
    path: Parts, entry: Entry, editable: Mapping[str, Sequence[str]]
) -> tuple[str, int, str] | None:
    """(what, weight, why) for an entry that is never copied and worth a line; None for every other one."""
    shown, name = "/".join(path), path[-1]
    # The staged root and each assignment's folder are on sys.path: names there are importable as they stand.
    top = 1 if len(path) > 1 and path[0] in editable else 0
    module, is_folder = path[top].removesuffix(".py"), len(path) > top + 1
    what = "/".join(path[: top + 1]) + "/" if is_folder else shown
    if is_folder or path[top].endswith(".py"):
        if module.casefold() in _KIT:
            return what, 2, "the grader has its own"
        if module.casefold() in _LIBRARIES:
            return what, 1, "it has the name of a library"
    if entry.kind != "file":
        return shown, 1, _NOT_A_FILE[entry.kind]
    if name.casefold() in _RUN_UNASKED:
        return shown, 2, "nothing that runs by itself is"
    if name.endswith(_LOADABLE_SUFFIXES):
        return shown, 1, "only .py files are"
    if name.endswith(".py"):
        if name.casefold().startswith("test_") or name.casefold().endswith("_test.py"):
            return shown, 2, "the grader has its own tests"
        if not all(_is_plain(part) for part in path):
            return shown, 1, "its name is too long or has characters that no import can spell"
        return None
    if top == 1 and name != _HANDED_OUT and os.path.splitext(name)[1].casefold() not in _NO_DATA:
        return shown, 1, "only .py files are: put data into a .py file"
    return None


def _is_plain(name: str) -> bool:
    return name.isprintable() and not set(name) & set('\\:*?"<>|') and len(name.encode()) <= MAX_NAME_BYTES


def _over_limit(path: Parts, entry: Entry, files: int, total_bytes: int) -> str | None:
    if entry.size_bytes > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES >> 20} MiB"
    if len(path) > MAX_DEPTH:
        return _NOT_A_FILE["too_deep"]
    if files >= MAX_FILES:
        return f"more than {MAX_FILES} files"
    if total_bytes + entry.size_bytes > MAX_TOTAL_BYTES:
        return f"more than {MAX_TOTAL_BYTES >> 20} MiB in all"
    return None


def _refuse_clashes(tree: Tree, paths: Iterable[Parts]) -> None:
    """Refuse two names that some file system takes for one, and a file where another path has a folder."""
    seen: dict[Parts, tuple[Parts, bool]] = {}
    for path in paths:
        for length in range(1, len(path) + 1):
            prefix, is_file = path[:length], length == len(path)
            is_new = folded(prefix) not in seen
            other, other_is_file = seen.setdefault(folded(prefix), (prefix, is_file))
            # A file's own path comes up once, unless two names became one when they were composed.
            if other != prefix or other_is_file != is_file or (is_file and not is_new):
                first, second = printable("/".join(other)), printable("/".join(prefix))
                raise SubmissionRefused(
                    f"{tree.shown}: {first} and {second} clash (the same but for upper and lower case "
                    "or how accents are stored, or a file and a folder of one name): rename one"
                )
