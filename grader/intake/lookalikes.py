"""Names the files that look like one that is graded and are not, which a student may have edited in its place."""

import re
from collections.abc import Collection, Iterable, Iterator

from grader.intake.layout import Layout, Parts
from grader.intake.tree import Tree
from grader.printable import printable

# What browsers, mail programs, editors and file managers make of a name.
_COPY = r"[ _-]*\(\d+\)|[ _-]+(?:copy|kopie)(?![a-z])"
_COPIED = rf"(?:{_COPY}|[ _-]+\d+)*"
_ENDING = r"(?:\.py)?(?:\.(?:py|ipynb|txt|bak|orig|rtf|docx|download))?"


def beside_the_graded(tree: Tree, layout: Layout, graded: Collection[Parts]) -> Iterator[tuple[str, str]]:
    """(path, note) of each file that has a graded one's name and lies outside of its folder, or is a copy beside it.

    Args:
        graded: staged paths; in a flat layout that place is the graded file's own.
    """
    there = {entry.parts for entry in tree.entries if not layout.moved}
    staged = {path: printable("/".join(path)) for each in tree.entries if (path := layout.staged(each))}
    for path in sorted(graded):
        stem = re.escape(path[-1].removesuffix(".py"))
        # A name with a number alone, ring_2.py, is a helper's as likely.
        copy = re.compile(rf"copy of {stem}\.py|{stem}(?:{_COPY})+\.py|{stem}\.py\.txt", re.IGNORECASE)
        for other, shown in staged.items():
            if other[:-1] == path[:-1] and copy.fullmatch(other[-1]):
                yield shown, f"{shown}: not graded, {'/'.join(path)} is there too"
        for depth in range(len(layout.root) + 1):
            parts = (*layout.root[:depth], *path[1:])
            if parts in there:
                shown = printable("/".join(parts))
                yield shown, f"{shown}: not graded, {'/'.join(path)} is there too"


def near_misses(tree: Tree, layout: Layout, missing: Iterable[Parts]) -> Iterator[tuple[str, str]]:
    """(path, note) of each file that has the name of a missing one but for what was added to it.

    Args:
        missing: staged paths; looked at is what lies where they would, or at the root.
    """
    places = [(path, printable("/".join(path))) for each in tree.entries if (path := layout.staged(each))]
    for wanted in sorted(missing):
        stem = re.escape(wanted[-1].removesuffix(".py"))
        near = re.compile(rf"(?:copy of )?{stem}{_COPIED}{_ENDING}", re.IGNORECASE)
        for path, shown in places:
            if path == wanted or path[:-1] not in (wanted[:-1], ()) or not near.fullmatch(path[-1]):
                continue
            is_notebook = path[-1].casefold().endswith(".ipynb")
            remedy = "hand in its code in a file of that name" if is_notebook else "rename it"
            yield shown, f"{shown}: is not {'/'.join(wanted)}, which is missing: {remedy}"
