"""Extensions of course.yaml for nobody: a misspelt id gives its student no time, and nothing else would say so."""

import difflib
from collections.abc import Collection

from grader.course.ledger import students
from grader.course.settings import FILE, Course
from grader.printable import printable


def known_students(course: Course) -> set[str]:
    """Who has handed something in, or has a grading in the ledger."""
    found = {path.name for path in (course.root / "submitted").glob("*") if path.is_dir()}
    return found.union(*(students(course, name) for name in course.names))


def for_nobody(course: Course) -> list[str]:
    """A line for each assignment with an extension whose student is not known here, with the nearest id.

    Such a student may simply have handed in nothing yet, so that this refuses nothing.
    """
    known = known_students(course)
    lines = []
    for name in course.names if known else ():
        strangers = [each for each in course.of(name).extensions if each not in known]
        if strangers:
            shown = ", ".join(printable(each, 60) + _nearest(each, known) for each in strangers)
            lines.append(f"{FILE}: assignments.{name}.extensions: nobody here has the id {shown}")
    return lines


def _nearest(name: str, known: Collection[str]) -> str:
    spelled = {each.casefold(): each for each in sorted(known)}
    near = difflib.get_close_matches(name.casefold(), spelled, n=1, cutoff=0.6)
    return f" (did you mean {printable(spelled[near[0]], 60)}?)" if near else ""
