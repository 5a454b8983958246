"""The ledger of a course: every grading of every attempt, and every override, appended and never changed.

`ledger/<assignment>/<student>/<number>/` holds one grading: `attempt.json`, the report as the kit made it, and the
files that were graded. `ledger/overrides.jsonl` has a line for each decision of a person.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from grader.course.settings import Course
from grader.intake import SubmissionRefused, submission_id
from grader.printable import printable
from grader.refusal import BadInput
from grader.report import GradeReport, Model, ReportUnreadable, read_report, write_report

FOLDER = "ledger"
Source = Literal["notebook", "files"]
Because = Literal["handed in", "regrade", "report"]
"""Why a grading is entered: a submission was graded, an attempt of the ledger again, or a report came without one."""


class Attempt(Model):
    """What one grading was of."""

    number: int = Field(ge=1)
    student: str
    assignment: str
    source: Source
    submitted_at: AwareDatetime | None = None
    graded_at: AwareDatetime
    handed_in_again: bool = False
    """True where these files came again, without a time, after others: a hand-in, and no regrade."""
    came_as: tuple[str, ...] = ()
    """Hashes of the notebook as it came, or of what lay there in its place: a renamed one is known by it."""


class Override(Model):
    """Points that a person gave an exercise; the last one counts."""

    student: str
    exercise: str
    points: float = Field(ge=0)
    reason: str = Field(min_length=1)
    by: str = Field(min_length=1)
    at: AwareDatetime


class Withdrawal(Model):
    """A decision taken back: from here on the grader's points count again."""

    student: str
    exercise: str
    withdrawn: Literal[True] = True
    reason: str = Field(min_length=1)
    by: str = Field(min_length=1)
    at: AwareDatetime


_DECISION: TypeAdapter[Override | Withdrawal] = TypeAdapter(Override | Withdrawal)


@dataclass(frozen=True)
class Grading:
    """One entry: the attempt, its report, and where both are."""

    attempt: Attempt
    report: GradeReport
    folder: Path
    taken_at: datetime | None = None
    """When an attempt without a time of its own is taken to have been handed in; see `attempts`."""
    could_gain: Mapping[str, float] = field(default_factory=dict)
    """Of the best attempt, by exercise: what the grade would gain if another attempt's open points were all earned."""
    others: tuple[str, ...] = ()
    """A line for each attempt that may yet turn out better, or that nobody could grade."""

    @property
    def handed_in(self) -> datetime | None:
        """The time that lateness is counted from."""
        return self.attempt.submitted_at or self.taken_at

    @property
    def key(self) -> tuple[str, str]:
        """The same for every grading of one attempt."""
        return self.report.submission.sha256, str(self.attempt.submitted_at)


def record(
    course: Course,
    name: str,
    report: GradeReport,
    source: Source,
    submitted_at: datetime | None,
    files: Path | None,
    because: Because = "handed in",
    came_as: tuple[str, ...] = (),
) -> Grading:
    """Append a grading, unless the ledger's last one of this attempt says the same; the entry that holds it.

    Files without a time that come again after others are handed in again, and appended although their grade is known.
    A report that the ledger has is no attempt, wherever the ledger has it from.
    """
    student = safe_student(report.submission.id)
    # Which exercises a course leaves out is said in course.yaml: of its own the report has all.
    report = report.model_copy(update={"exercises": report.of(name), "only": ()})
    earlier = gradings(course, name, student)
    key = (report.submission.sha256, str(submitted_at))
    same = [each for each in earlier if each.key == key]
    is_last = bool(earlier) and _by_hand_in(earlier, again=True)[-1].key == key
    came_again = because != "regrade" and bool(same) and submitted_at is None and not is_last
    if because == "report" and (known := _known(earlier, report, is_last)) is not None:
        return known
    if same and not came_again and _says_the_same(same[-1].report, report):
        return same[-1]
    folder = course.root / FOLDER / name / student
    folder.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".adding-", dir=folder))
    try:
        number = max((each.attempt.number for each in earlier), default=0) + 1
        while True:
            attempt = Attempt(
                number=number,
                student=student,
                assignment=name,
                source=source,
                submitted_at=submitted_at,
                graded_at=datetime.now(UTC).replace(microsecond=0),
                handed_in_again=came_again,
                came_as=came_as or (same[-1].attempt.came_as if same else ()),
            )
            (building / "attempt.json").write_text(attempt.model_dump_json(indent=1) + "\n", encoding="utf-8")
            write_report(report, building / "report.json")
            if files is not None and not (building / "files").exists():
                shutil.copytree(files, building / "files", symlinks=True)
            target = folder / f"{number:04}"
            try:
                os.rename(building, target)  # fails where another grader has been quicker
            except OSError:
                if not target.exists():
                    raise
                number += 1
                continue
            target.chmod(0o755)
            return Grading(attempt, report, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _known(earlier: Sequence[Grading], report: GradeReport, is_last: bool) -> Grading | None:
    """The entry that a report without a time comes from, or says nothing new beside.

    That is one of the same run; or one of the same files with the same result, if it has a time or is the last.
    """
    sha = report.submission.sha256
    for each in reversed([each for each in earlier if sha and each.report.submission.sha256 == sha]):
        same_run = report.started_at and each.report.started_at == report.started_at
        if (same_run or is_last or each.attempt.submitted_at) and _says_the_same(each.report, report):
            return each
    return None


def _says_the_same(before: GradeReport, now: GradeReport) -> bool:
    if before.environment != now.environment or before.error != now.error:
        return False
    found = [
        [(each.id, each.points, each.pending_points, each.max_points) for each in report.exercises]
        for report in (before, now)
    ]
    return found[0] == found[1]


def safe_student(student: str) -> str:
    """The id, which becomes the name of a folder.

    Raises:
        BadInput: it cannot be one.
    """
    try:
        if submission_id(Path(student)) == student:
            return student
    except SubmissionRefused:
        pass
    raise BadInput(f"{printable(student, 60)!r}: is no id of a student, rename the folder")


def students(course: Course, name: str) -> list[str]:
    """Who has a grading of the assignment."""
    return sorted(path.name for path in (course.root / FOLDER / name).glob("*") if path.is_dir())


def gradings(course: Course, name: str, student: str) -> list[Grading]:
    """All gradings of a student's attempts, in the order in which they were made.

    Raises:
        BadInput: an entry is damaged.
    """
    folders = sorted((course.root / FOLDER / name / student).glob("[0-9]*"))
    return [read_grading(folder) for folder in folders]


def read_grading(folder: Path) -> Grading:
    """One entry of the ledger.

    Raises:
        BadInput: it is damaged or none.
    """
    try:
        attempt = Attempt.model_validate_json((folder / "attempt.json").read_text(encoding="utf-8"))
        return Grading(attempt, read_report(folder / "report.json"), folder)
    except (OSError, UnicodeDecodeError, ValidationError, ReportUnreadable):
        raise BadInput(f"{folder}: no entry of a ledger, or damaged; restore it from a backup") from None


def attempts(course: Course, name: str, student: str) -> list[Grading]:
    """Of each attempt the latest grading, in the order in which the attempts came, each with a time if one has any.

    Where some attempts have a time, one without is taken to have been handed in when it was first graded or with the
    next attempt that has a time (where none follows, the one before), whichever is earlier: it is not on time
    for want of a date. Where no attempt has a time, nothing is known of lateness and nobody loses points by it.
    One that came again has its last place where the last counts, and its first where the best does.
    """
    entries = gradings(course, name, student)
    placed = _by_hand_in(entries, again=course.settings.attempts == "last")
    first = {each.key: each.attempt.graded_at for each in placed}
    newest = {each.key: each for each in entries}
    latest = [newest[each.key] for each in placed]
    times = [each.attempt.submitted_at for each in latest]
    found = []
    for index, each in enumerate(latest):
        near = [at for at in (*times[index:], *reversed(times[:index])) if at is not None]
        if each.attempt.submitted_at is None and near:
            each = replace(each, taken_at=min(near[0], first[each.key]))
        found.append(each)
    return [each for each in found if not _graded_since(each, found)]


def _by_hand_in(entries: Iterable[Grading], *, again: bool) -> list[Grading]:
    """Of each attempt the grading of its hand-in, of its last one if `again`, in that order; regrades move nothing."""
    placed: dict[tuple[str, str], Grading] = {}
    for each in entries:
        if each.key not in placed:
            placed[each.key] = each
        elif again and each.attempt.handed_in_again:
            del placed[each.key]
            placed[each.key] = each
    return list(placed.values())


def _graded_since(grading: Grading, others: Iterable[Grading]) -> bool:
    """Whether what could not be read once was read later, being the same by its time, or without one by its bytes."""
    own = grading.attempt
    if not grading.report.error or grading.report.submission.sha256:
        return False
    return any(
        each.attempt.submitted_at == own.submitted_at
        and each.attempt.number > own.number
        and (own.submitted_at is not None or not set(own.came_as).isdisjoint(each.attempt.came_as))
        for each in others
    )


def counting(course: Course, name: str, student: str) -> Grading | None:
    """The grading that counts: of each attempt the latest, of these the last handed in, or the best."""
    return that_counts(course, attempts(course, name, student))


def that_counts(course: Course, found: Sequence[Grading]) -> Grading | None:
    """Of `attempts` the one that counts; of two that are equally good or late, the later one.

    The best is the best by what is decided. Where another one's open points could still beat it, it says so and by
    how much: the grade is not final.
    """
    if not found:
        return None
    if course.settings.attempts == "last":
        return max(enumerate(found), key=lambda each: (_when(each[1]), each[0]))[1]
    decided = overrides(course)
    worths = [_worth(course, each, decided) for each in found]
    best = max(
        range(len(found)),
        key=lambda index: (
            not found[index].report.error,
            _total(earned for earned, _ in worths[index].values()),
            _when(found[index]),
            index,
        ),
    )
    if found[best].report.error:
        return found[best]
    return _with_others(best, found, worths)


def _when(grading: Grading) -> float:
    return grading.handed_in.timestamp() if grading.handed_in else 0.0


Worth = Mapping[str, tuple[float, float]]


def _worth(course: Course, grading: Grading, decided: Mapping[tuple[str, str], Override]) -> Worth:
    """Of each exercise, in this course's points and after the late penalty: what is earned, and what may be at most."""
    attempt = grading.attempt
    late_s = course.late_s(attempt.assignment, attempt.student, grading.handed_in)
    left = 1 - course.settings.late.share(late_s)
    results = {each.id: each for each in grading.report.of(attempt.assignment)}
    found = {}
    for short, worth in course.points(attempt.assignment).items():
        name = f"{attempt.assignment}.{short}"
        given, result = decided.get((attempt.student, name)), results.get(name)
        earned, at_most = 0.0, worth
        if given is not None:
            earned = at_most = given.points
        elif result is not None and not grading.report.error:
            earned = result.points * worth / result.max_points
            at_most = earned + result.pending_points * worth / result.max_points
        found[name] = (earned * left, at_most * left)
    return found


def _total(points: Iterable[float]) -> float:
    """To the sixth decimal: shares of points are not exact."""
    return round(sum(points), 6)


def _with_others(best: int, found: Sequence[Grading], worths: Sequence[Worth]) -> Grading:
    earned = _total(each for each, _ in worths[best].values())
    at_most = [_total(each for _, each in worth.values()) for worth in worths]
    others = []
    for index, each in enumerate(found):
        may_count = index != best and at_most[index] > earned
        if index == best or not (may_count or each.report.error):
            continue
        line = f"{each.attempt.assignment}: attempt {each.attempt.number} "
        line += (
            f"could not be graded ({printable(each.report.error, 200)})"
            if each.report.error
            else "has points pending"
        )
        others.append(line + (f" and may yet count, with {at_most[index]:g} at most" if may_count else ""))
    top = max(range(len(found)), key=at_most.__getitem__)
    rest = at_most[top] - at_most[best]
    gain = {}
    for name, (_, own) in worths[best].items():
        part = min(rest, worths[top][name][1] - own)
        if part > 0:
            gain[name] = round(part, 6)
            rest -= part
    return replace(found[best], could_gain=gain, others=tuple(others))


def append_override(course: Course, override: Override | Withdrawal) -> None:
    """Write one decision at the end of the ledger, on a line of its own.

    A line that a full disk cut short has no end: what is written after it must not be damaged with it.
    """
    path = course.root / FOLDER / "overrides.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if size := stream.seek(0, os.SEEK_END):
            stream.seek(size - 1)
        ended = stream.read(1) in (b"", b"\n")
        stream.write((b"" if ended else b"\n") + override.model_dump_json().encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def overrides(course: Course) -> dict[tuple[str, str], Override]:
    """The decision that counts for each (student, exercise); the last one, where it was not withdrawn.

    Raises:
        BadInput: a line is damaged.
    """
    last = {(each.student, each.exercise): each for each in _override_lines(course)}
    return {key: each for key, each in last.items() if isinstance(each, Override)}


def _override_lines(course: Course) -> Iterator[Override | Withdrawal]:
    path = course.root / FOLDER / "overrides.jsonl"
    if not path.is_file():
        return
    # Not splitlines(): a reason may have U+2028 in it, which JSON does not escape.
    for number, text in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            yield _DECISION.validate_json(text)
        except ValidationError:
            raise BadInput(f"{path}, line {number}: damaged, restore it from a backup") from None
