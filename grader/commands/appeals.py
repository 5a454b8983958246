"""`grader show`, `replay`, `override` and `regrade`: an appeal, from the question to a grade that stays."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from grader import cohort
from grader.checks.verdicts import environment
from grader.course.grades import adjusted
from grader.course.grading import course_here, seed_of
from grader.course.ledger import (
    Grading,
    Override,
    Withdrawal,
    append_override,
    counting,
    overrides,
    record,
    students,
)
from grader.course.regrading import Regraded, regrade_of
from grader.course.replaying import again, asked, differences, entry, files_of_entry
from grader.course.settings import Course
from grader.kit import find_exercise
from grader.printable import printable
from grader.refusal import SOME_NOT_GRADED, BadInput
from grader.report import Environment, Outcome
from grader.table import points as shown_points

MOVED = 1


def show(place: Path, exercise: str) -> int:
    """Print what the checks of an exercise asked and got, hidden ones included; for staff."""
    course, grading = entry(place)
    name = full_name(exercise)
    if name.partition(".")[0] != grading.attempt.assignment:
        raise BadInput(f"{name}: {place} is of {grading.attempt.assignment}")
    found, printed = asked(course, grading, name)
    attempt = grading.attempt
    print(f"{attempt.student}, attempt {attempt.number}: {name}; for staff, hidden cases included")
    print(_as_graded(course, grading, name))
    for each in found:
        check = each.result
        print(f"\n{check.outcome}{' (hidden)' if check.hidden else ''}: {check.claim} [{check.name}]")
        if check.outcome is Outcome.PASSED:
            continue
        for call in each.calls:
            print("  called " + call.replace("\n", "\n  "))
        for text in check.message.splitlines():
            print(f"  {printable(text, 2000)}")
        if check.mistake:
            print(f"  mistake: {check.mistake}")
    if printed.strip():
        print("\nthe end of what it printed:")
        for text in printed.strip().splitlines()[-20:]:
            print(f"  {printable(text, 300)}")
    return 0


def _as_graded(course: Course, grading: Grading, exercise: str) -> str:
    """What the ledger says of the exercise, since what is shown below is asked now."""
    points = course.points(grading.attempt.assignment)
    adjusted_report = adjusted(grading.report, grading.attempt.assignment, points)
    own = next((each for each in adjusted_report.exercises if each.id == exercise), None)
    text = f"graded {grading.attempt.graded_at:%Y-%m-%d %H:%M} UTC: "
    text += f"{round(own.points, 2):g} of {own.max_points:g}" if own else "not part of it"
    if own and own.pending_points:
        text += f", {round(own.pending_points, 2):g} pending"
    given = overrides(course).get((grading.attempt.student, exercise))
    if given is not None:
        text += f"; set by hand to {given.points:g} by {given.by}: {given.reason}"
    if grading.report.environment != environment(course.settings.isolation, course.kit, seed_of(course)):
        text += "; kit, seed or libraries have changed since, grader replay says what and what moves"
    return printable(text, 600)


def replay(place: Path) -> int:
    """Grade one entry again from its files and the course's seed; exit code 0 when it gives the same grade."""
    course, grading = entry(place)
    files_of_entry(grading)
    (now,) = again(course, grading.attempt.assignment, [grading])
    if isinstance(now, str):
        raise BadInput(f"{place}: not graded again: {now}")
    before = grading.report
    if before.submission.sha256 != now.submission.sha256:
        raise BadInput(f"{place}: its files are not those that were graded, restore them from a backup")
    for line in _conditions(before.environment, now.environment):
        print(f"changed since: {line}")
    moved = differences(before, now)
    for line in moved:
        print(line)
    if not moved:
        print(
            f"the same grade again: {shown_points(now.points)} points, files {now.submission.sha256[:12]}, "
            f"seed {now.environment.seed_id}, kit {now.environment.kit_sha256[:12]}"
        )
    return MOVED if moved else 0


def _conditions(before: Environment, now: Environment) -> list[str]:
    old, new = before.model_dump(), now.model_dump()
    return [
        f"{name}: {printable(str(old[name]), 80)} -> {printable(str(new[name]), 80)}"
        for name in new
        if old[name] != new[name]
    ]


def override(directory: Path, student: str, exercise: str, points: float, reason: str, by: str) -> int:
    """Enter a decision into the ledger, and into the gradebook where there is one."""
    course, grading, name = _decided_about(directory, student, exercise, reason, by)
    if not 0 <= points <= 1e6:
        raise BadInput(f"--points {points:g}: no number of points")
    decision = Override(
        student=grading.attempt.student,
        exercise=name,
        points=points,
        reason=reason.strip(),
        by=by.strip(),
        at=datetime.now(UTC).replace(microsecond=0),
    )
    lacks = _gradebook_lacks(course, grading.attempt.assignment)
    append_override(course, decision)
    _into_gradebook(course, [grading], lacks)
    by_grader, worth = _by_the_grader(course, grading, name)
    print(
        f"{decision.student}: {name} is {points:g} of {worth:g} points from now on, where the grader says {by_grader}; "
        "no regrade changes it"
    )
    if points > worth:
        print(f"{points:g} is more than the {worth:g} that it is worth", file=sys.stderr)
    return 0


def withdraw(directory: Path, student: str, exercise: str, reason: str, by: str) -> int:
    """Enter that a decision counts no more: the exercise has the grader's points again."""
    course, grading, name = _decided_about(directory, student, exercise, reason, by)
    student = grading.attempt.student
    before = overrides(course).get((student, name))
    if before is None:
        raise BadInput(f"{student}, {name}: no override counts, there is nothing to withdraw")
    at = datetime.now(UTC).replace(microsecond=0)
    lacks = _gradebook_lacks(course, grading.attempt.assignment)
    append_override(
        course, Withdrawal(student=student, exercise=name, reason=reason.strip(), by=by.strip(), at=at)
    )
    _into_gradebook(course, [grading], lacks, withdrawn=before)
    by_grader, worth = _by_the_grader(course, grading, name)
    print(
        f"{student}: {name} is as graded again, {by_grader} of {worth:g} points; {before.points:g} were given"
    )
    return 0


def _decided_about(
    directory: Path, student: str, exercise: str, reason: str, by: str
) -> tuple[Course, Grading, str]:
    """(the course, what counts of the student, the exercise's full name).

    Raises:
        BadInput: there is no such exercise or student, or a text is missing or none.
    """
    course = course_here(directory)
    name = full_name(exercise)
    assignment, _, short = name.partition(".")
    if assignment not in course.names or short not in course.points(assignment):
        raise BadInput(f"{name}: not part of this course")
    # By the folder's very name: "ada/" and "../memory/ada" lead to the same folder and are nobody's id.
    there = students(course, assignment)
    grading = counting(course, assignment, student) if student in there else None
    if grading is None:
        raise BadInput(
            f"{printable(student, 60)}: no attempt at {assignment} in the ledger"
            + (f", there are those of {', '.join(there[:20])}" if there else "")
        )
    if not reason.strip() or not by.strip():
        raise BadInput("--reason and --by: say why, and who decides")
    for option, text in (("--reason", reason), ("--by", by)):
        if not _is_unicode(text):
            raise BadInput(f"{option} {printable(text, 60)!r}: not UTF-8, write it anew")
    return course, grading, name


def _by_the_grader(course: Course, grading: Grading, name: str) -> tuple[str, float]:
    """(the grader's points of an exercise, what it is worth)."""
    assignment, _, short = name.partition(".")
    worth = course.points(assignment)[short]
    found = adjusted(grading.report, assignment, {short: worth}).exercises
    return next((shown_points(each.points) for each in found), "no grade"), worth


def _is_unicode(text: str) -> bool:
    """False for a word of the command line that was not UTF-8: Python hands its bytes on as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def regrade(directory: Path, write: bool, jobs: int | None) -> int:
    """Grade what counts again where the kit has changed since; print who moves, write only when told to.

    Returns:
        The exit code: 0, or 3 when something could not be graded again.
    """
    course = course_here(directory)
    graded, moved, lost = 0, 0, 0
    for name in course.names:
        found = regrade_of(course, name, jobs or cohort.cores())
        for each in found.moves:
            pending = f", {each.pending:+g} pending" if each.pending else ""
            print(f"{each.student}: {name} {_signed(each.points)} points{pending}")
            for line in each.lines:
                print(f"    {printable(line, 300)}")
        for line in found.lost:
            print(f"not graded again: {printable(line, 300)}", file=sys.stderr)
        if write:
            lacks = _gradebook_lacks(course, name) if found.regraded else ""
            _into_gradebook(course, [_recorded(course, name, each) for each in found.regraded], lacks)
        graded += len(found.regraded)
        moved += sum(each.moved for each in found.moves)
        lost += len(found.lost)
    if not graded:
        print("nothing was graded again" if lost else "nothing has changed since the last grading")
        return SOME_NOT_GRADED if lost else 0
    who = f"{_number(graded, 'attempt')} graded again; {_number(moved, 'student')}"
    if write:
        print(f"{who} moved; the ledger has the new gradings, the old ones stay in it")
    else:
        print(f"{who} would move; nothing was written, --write enters it")
    return SOME_NOT_GRADED if lost else 0


def _number(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _signed(points: float) -> str:
    """Like +1.5; 0 without a sign, and no -0 of a last digit."""
    rounded = round(points, 2)
    return f"{rounded:+g}" if rounded else "0"


def _recorded(course: Course, name: str, regraded: Regraded) -> Grading:
    entry = regraded.before
    attempt = entry.attempt
    files = entry.folder / "files"
    return record(course, name, regraded.now, attempt.source, attempt.submitted_at, files, "regrade")


def _gradebook_lacks(course: Course, name: str) -> str:
    """What to tell the instructor where the gradebook does not know the assignment yet; else nothing.

    The decision is the ledger's and is not refused for it. This is asked before anything is written, for a gradebook
    that cannot be opened refuses the command.
    """
    from grader.course import gradebook

    if not (course.root / "gradebook.db").is_file():
        return ""
    with gradebook.opened(course) as book:
        try:
            gradebook.refuse_unreleased(book, name)
        except BadInput as refusal:
            return f"{refusal}, then `grader grade --gradebook`; until then the ledger and its exports alone have this"
    return ""


def _into_gradebook(
    course: Course, entered: list[Grading], lacks: str, withdrawn: Override | None = None
) -> None:
    """Save what counts now, and show it; a course without an nbgrader gradebook has none to save into."""
    from grader.course import gradebook
    from grader.course.pages import feedback, shown_anew

    if lacks:
        print(lacks, file=sys.stderr)
    if lacks or not entered or not (course.root / "gradebook.db").is_file():
        return
    with gradebook.opened(course) as book:
        for each in entered:
            counts = counting(course, each.attempt.assignment, each.attempt.student) or each
            if withdrawn is not None:
                gradebook.take_back(book, each.attempt.assignment, withdrawn)
            gradebook.save(book, course, counts)
    for each in entered:
        if shown_anew(course, counting(course, each.attempt.assignment, each.attempt.student) or each):
            feedback(course, each.attempt.assignment, [each.attempt.student])


def full_name(exercise: str) -> str:
    """The exercise's full name."""
    spec, found = find_exercise(exercise)
    return f"{spec.name}.{found.id}"
