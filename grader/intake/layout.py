"""Finds where in a submission the assignments are, or says in one line why that is not clear.

Accepted are `<assignment>/<file>` at the root or below one or two wrapping folders, and, where none is found,
the files alone without their assignment's folder. A guess between two places would grade the wrong work, so
it is never made.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.intake.tree import WRAPPING_FOLDERS, Entry, SubmissionRefused, Tree
from grader.printable import printable

Parts = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """Where the assignments are in a tree, and so where each entry goes in the staged copy."""

    root: Parts
    moved: Mapping[str, str]  # flat layout: an editable file's name -> its assignment
    beside: Parts = ()  # flat layout: the folder that the other files go to

    def staged(self, entry: Entry) -> Parts | None:
        """The path in the staged copy, or None for an entry outside of the root.

        Names are composed (NFC): macOS packs "ö" as o and dots, and no import finds that on Linux.
        """
        depth = len(self.root)
        inside = tuple(unicodedata.normalize("NFC", name) for name in entry.parts[depth:])
        if entry.parts[:depth] != self.root:
            return None
        if len(inside) == 1 and inside[0] in self.moved:
            return (self.moved[inside[0]], inside[0])
        return (*self.beside, *inside)


def editable_paths(editable: Mapping[str, Sequence[str]]) -> tuple[Parts, ...]:
    """The staged paths of all editable files, in the order of the assignments."""
    return tuple((assignment, *file.split("/")) for assignment, files in editable.items() for file in files)


def folded(path: Parts) -> Parts:
    """The path as a file system that ignores case and Unicode composition compares it."""
    return tuple(unicodedata.normalize("NFC", name).casefold() for name in path)


def find_layout(tree: Tree, editable: Mapping[str, Sequence[str]]) -> Layout:
    """Return the one layout in which `tree` holds at least one editable file.

    A link or device in a file's place counts, so that its submission is graded without that file.

    Raises:
        SubmissionRefused: no such file, or files in more than one place.
    """
    wanted = frozenset(editable_paths(editable))
    roots = _roots(tree.entries, wanted, WRAPPING_FOLDERS)
    if len(roots) == 1:
        return Layout(roots[0], {})
    if roots:
        raise _ambiguous(tree, roots)
    owners: dict[str, list[str]] = {}
    for assignment, files in editable.items():
        for file in files:
            owners.setdefault(file, []).append(assignment)
    flat_roots = _roots(tree.entries, frozenset((file,) for file in owners), 1)
    if len(flat_roots) == 1:
        return _flat(tree, flat_roots[0], owners)
    misspelt = _other_spellings(tree.entries, wanted)
    if misspelt:
        found, expected = misspelt[0]
        raise SubmissionRefused(
            f"{tree.shown}: has {printable(found)} where {expected} is expected: rename it"
        )
    if flat_roots:
        raise _ambiguous(tree, flat_roots)
    raise _nothing_found(tree, editable)


def _roots(entries: Iterable[Entry], wanted: frozenset[Parts], wrapping: int) -> list[Parts]:
    roots = {
        entry.parts[:depth]
        for entry in entries
        for depth in range(min(len(entry.parts), wrapping + 1))
        if entry.parts[depth:] in wanted
    }
    return sorted(roots)


def _other_spellings(entries: Iterable[Entry], wanted: Iterable[Parts]) -> list[tuple[str, str]]:
    """(path found, path expected) of entries that differ from a wanted path in upper and lower case only."""
    expected = {folded(path): path for path in wanted}
    return [
        (entry.path, "/".join(expected[folded(entry.parts[depth:])]))
        for entry in entries
        for depth in range(min(len(entry.parts), WRAPPING_FOLDERS + 1))
        if folded(entry.parts[depth:]) in expected
    ]


def _flat(tree: Tree, root: Parts, owners: Mapping[str, Sequence[str]]) -> Layout:
    depth = len(root)
    names = sorted(e.parts[-1] for e in tree.entries if len(e.parts) == depth + 1 and e.parts[:depth] == root)
    found = [name for name in names if name in owners]
    for name in found:
        if len(owners[name]) > 1:
            raise SubmissionRefused(
                f"{tree.shown}: {name} could belong to {' or '.join(owners[name])}: "
                "put it in a folder named after its assignment"
            )
    assignments = {owners[name][0] for name in found}
    # Helpers of one assignment go beside its files, where a relative import finds them.
    beside = tuple(assignments) if len(assignments) == 1 else ()
    return Layout(root, {name: owners[name][0] for name in found}, beside)


def _ambiguous(tree: Tree, roots: Sequence[Parts]) -> SubmissionRefused:
    first, second = (printable("/".join(root), limit=60) or "its root" for root in roots[:2])
    siblings = () not in roots and len({root[:-1] for root in roots}) == 1
    # Some students wrap their folder once more, so that not all are equally deep.
    folders = roots if siblings else sorted({root[:1] for root in roots})
    if siblings or (() not in roots and len(folders) > 1):
        others = ", ..." if len(roots) > 2 else ""
        folder = "/".join((tree.shown, *(printable(part, limit=60) for part in folders[0][:-1])))
        remedy = "unpack it and pass its folders" if tree.is_archive else f"pass its folders, e.g. {folder}/*"
        return SubmissionRefused(
            f"{tree.shown}: holds {len(folders)} submissions, not one ({first}, {second}{others}): {remedy}"
        )
    more = f" and {len(roots) - 2} more" if len(roots) > 2 else ""
    return SubmissionRefused(
        f"{tree.shown}: has the assignments' files in more than one place ({first}, {second}{more}): "
        "keep the one to grade and move the others away"
    )


def _nothing_found(tree: Tree, editable: Mapping[str, Sequence[str]]) -> SubmissionRefused:
    paths = ["/".join(path) for path in editable_paths(editable)]
    listed = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
    zips = [entry.parts for entry in tree.entries if entry.parts[-1].lower().endswith(".zip")]
    if not tree.entries:
        found = "it holds no files"
    elif zips and not tree.is_archive:
        folder = "/".join((tree.shown, *(printable(part, limit=60) for part in zips[0][:-1])))
        found = f"it holds {len(zips)} zip file{'s' if len(zips) > 1 else ''}, to be passed as {folder}/*.zip"
    elif any(entry.kind == "link" for entry in tree.entries):
        found = "links are not followed: put the files themselves there"
    else:
        found = "check that it is the right one"
    return SubmissionRefused(
        f"no {listed} found in {tree.shown}: expected <assignment>/<file> at its root or under one folder; "
        f"{found}"
    )
