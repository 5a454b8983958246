"""Names the files that look like one that is graded and are not, which a student may have edited in its place."""

from collections.abc import Collection, Iterator

from grader.intake.layout import Layout, Parts
from grader.intake.tree import Tree
from grader.printable import printable


def beside_the_graded(tree: Tree, layout: Layout, graded: Collection[Parts]) -> Iterator[tuple[str, str]]:
    """(path, note) of each file with a graded one's name that lies where its assignment's folder does, or further out.

    Args:
        graded: staged paths; in a flat layout that place is the graded file's own.
    """
    there = {entry.parts for entry in tree.entries if not layout.moved}
    for path in sorted(graded):
        for depth in range(len(layout.root) + 1):
            parts = (*layout.root[:depth], *path[1:])
            if parts in there:
                shown = printable("/".join(parts))
                yield shown, f"{shown}: not graded, {'/'.join(path)} is there too"
