"""`course.yaml`: what a course changes of the kit's assignments. A small overlay in which everything has a default."""

import contextlib
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field

from grader.exports.plain import score
from grader.kit import Kit
from grader.printable import printable
from grader.refusal import BadInput
from specs.assignment import Assignment, Track
from specs.schema import Spec, SpecError, read_yaml, validate

FILE = "course.yaml"
_EXAMPLE = "2026-11-22T23:59:00+01:00"
HiddenChecks = Literal["messages", "claims", "nothing"]


class LatePolicy(Spec):
    """What lateness costs: a share of the score for each day begun, after a time of grace."""

    per_day: float = Field(0.0, ge=0, le=1)
    at_most: float = Field(1.0, ge=0, le=1)
    grace_minutes: float = Field(0, ge=0)

    def share(self, late_s: float) -> float:
        """The share of the score that a submission loses which is late by so many seconds."""
        if late_s <= 60 * self.grace_minutes:
            return 0.0
        days = -(-late_s // 86400)
        return min(self.at_most, self.per_day * days)

    @property
    def rule(self) -> str:
        """In words: "10 % for each day begun, none within 15 min, 50 % at most"."""
        parts = [f"{score(100 * self.per_day)} % for each day begun"]
        if self.grace_minutes:
            parts.append(f"none within {score(self.grace_minutes)} min")
        if self.at_most < 1:
            parts.append(f"{score(100 * self.at_most)} % at most")
        return ", ".join(parts)


class AssignmentSettings(Spec):
    """One assignment of the course."""

    due: AwareDatetime | None = None
    extensions: dict[str, AwareDatetime] = Field(default_factory=dict)
    """Other due dates, by student."""
    points: dict[str, float] = Field(default_factory=dict)
    """Other points, by exercise."""
    leave_out: tuple[str, ...] = ()
    """Exercises that are not part of the course."""


class Settings(Spec):
    """The whole file."""

    title: str = "Rooflab"
    track: Track = "full"
    """core leaves the extra credit out."""
    assignments: dict[str, AssignmentSettings | None] | None = None
    """Those of the course, and no others; all of the kit where this is not given."""
    late: LatePolicy = LatePolicy()
    attempts: Literal["best", "last"] = "last"
    """Which attempt of a student counts."""
    hidden_checks: HiddenChecks = "messages"
    """What students see of them: claim and message, claim alone, or not that there are any."""
    solutions: Path | None = None
    """Folder with solutions and hidden tests, relative to this file [the kit's]."""
    isolation: Literal["sandbox", "process"] = "sandbox"
    seed_file: Path | None = None
    """The course's secret seed, relative to this file [.rooflab/course-seed of the kit]."""
    students_kit: str = Field("rooflab-students.zip", pattern=r"^[\w./:@%+=~-]+$")
    """What a notebook installs where the kit is missing: a zipped bundle of `grader release`, a path or an address."""


@dataclass(frozen=True)
class Course:
    """A course's folder, its settings and the kit."""

    root: Path
    settings: Settings
    kit: Kit

    @property
    def names(self) -> tuple[str, ...]:
        """Its assignments, in teaching order."""
        known = self.kit.available()
        if self.settings.assignments is None:
            return tuple(known)
        return tuple(name for name in known if name in self.settings.assignments)

    def why_not_here(self, name: str) -> str:
        """Why an assignment is none of this course's, and what to do."""
        if name in self.kit.available():
            return f"{FILE} lists only {', '.join(self.names)}: add {name} to assignments there"
        return f"no such assignment, choose one of {', '.join(self.names)}"

    def of(self, name: str) -> AssignmentSettings:
        """The settings of one assignment."""
        return (self.settings.assignments or {}).get(name) or AssignmentSettings()

    def points(self, name: str) -> dict[str, float]:
        """Points of the exercises that are part of the course, by id without the assignment's name."""
        own = self.of(name)
        return {
            each.id: own.points.get(each.id, each.points)
            for each in self.kit.available()[name].exercises
            if each.id not in own.leave_out and self.settings.track in each.tracks
        }

    def due(self, name: str, student: str) -> datetime | None:
        """When this student's work is due, extension included."""
        own = self.of(name)
        return own.extensions.get(student, own.due)

    def late_s(self, name: str, student: str, submitted_at: datetime | None) -> float:
        """By how many seconds a submission is late; 0 where there is no due date or no time."""
        due = self.due(name, student)
        if due is None or submitted_at is None:
            return 0.0
        return max(0.0, (submitted_at - due) / timedelta(seconds=1))


def read_course(root: Path, kit: Kit) -> Course:
    """The course in `root`; without a course.yaml there, everything is as the kit has it.

    Raises:
        SpecError: the file is broken; the message names the field.
        BadInput: the folder is none, or the solutions that the file names are not there.
    """
    if not root.is_dir():
        raise BadInput(f"{root}: no such folder, `grader notebooks {root}` makes a course")
    root = root.resolve()
    path = root / FILE
    if not path.is_file():
        return Course(root, Settings(), kit)
    data = read_yaml(path) or {}
    _refuse_wrong_dates(data, path)
    settings: Settings = validate(Settings, data, path)
    _refuse_unknown(settings, kit.available(), path)
    if settings.solutions is not None:
        solutions = (root / settings.solutions).resolve()
        if not solutions.is_dir():
            raise BadInput(f"{path}: solutions: no folder {solutions}")
        kit = Kit(kit.root, solutions)
    return Course(root, settings, kit)


def is_course(place: Path) -> bool:
    """Whether a folder was made by `grader notebooks` or has a course.yaml."""
    return (place / FILE).is_file() or (place / "nbgrader_config.py").is_file()


def _refuse_wrong_dates(data: object, path: Path) -> None:
    """All of them in one line; what else is wrong with the file is said by `validate`."""
    wrong = {field: why for field, value in _dates(data) if (why := _wrong_with_date(value))}
    if wrong:
        said = "; ".join(f"{printable(field, 100)}: {why}" for field, why in wrong.items())
        raise SpecError(f"{path}: {said}; write a date as {_EXAMPLE}, with its time of day and zone")


def _dates(data: object) -> Iterator[tuple[str, object]]:
    assignments = data.get("assignments") if isinstance(data, dict) else None
    for name, own in assignments.items() if isinstance(assignments, dict) else ():
        if not isinstance(own, dict):
            continue
        yield f"assignments.{name}.due", own.get("due")
        extensions = own.get("extensions")
        for student, at in extensions.items() if isinstance(extensions, dict) else ():
            # None is no extension, where it is no due date above.
            yield f"assignments.{name}.extensions.{student}", "" if at is None else at


def _wrong_with_date(value: object) -> str:
    """In words; empty where nothing is. A number would be taken for seconds since 1970."""
    found = _read_date(value) if isinstance(value, str) else value
    if isinstance(found, datetime):
        return "" if found.tzinfo is not None else f"{found.isoformat()} has no time zone"
    if isinstance(found, date):
        return f"{found} has no time of day and no time zone"
    if value == "":
        return "no date is given"
    return "" if value is None else f"{printable(str(value), 40)} is no date"


def _read_date(text: str) -> date | None:
    for kind in (date, datetime):
        with contextlib.suppress(ValueError):
            return kind.fromisoformat(text)
    return None


def _refuse_unknown(settings: Settings, known: Mapping[str, Assignment], path: Path) -> None:
    for name, own in (settings.assignments or {}).items():
        if name not in known:
            raise SpecError(f"{path}: assignments.{name}: no such assignment{_nearest(name, known)}")
        if own is None:
            continue
        exercises = {each.id: each for each in known[name].exercises}
        for part, names in (("points", own.points), ("leave_out", own.leave_out)):
            for each in names:
                if each not in exercises:
                    raise SpecError(
                        f"{path}: assignments.{name}.{part}: no exercise {each!r}{_nearest(each, exercises)}"
                    )
        for each, points in own.points.items():
            if not 0 < points < 1e6:
                raise SpecError(
                    f"{path}: assignments.{name}.points.{each}: {points:g} is no number of points"
                )
        left = [each for each in exercises if each not in own.leave_out]
        if not left:
            raise SpecError(f"{path}: assignments.{name}.leave_out: no exercise is left")


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f", did you mean {near[0]}?" if near else f", choose of {', '.join(known)}"


def utc(text: str) -> datetime:
    """A time as nbgrader and learning platforms write it; without a zone it is UTC.

    Raises:
        ValueError: it is none.
    """
    cleaned = text.strip().removesuffix(" UTC").removesuffix("Z")
    parts = cleaned.rsplit(" ", 1)
    if len(parts) == 2 and parts[1][:1] in "+-":
        cleaned = "".join(parts)
    found = datetime.fromisoformat(cleaned)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
