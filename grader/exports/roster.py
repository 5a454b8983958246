"""The class list, and who of it has which report.

A roster is a CSV file with a header: Canvas's own gradebook export does, and so does any table with one of the
columns below. A submission's id is looked up in `SIS Login ID`, `SIS User ID` and `ID`, or, for a student who has
one, in `submission` alone.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.exports.reading import is_graded
from grader.intake import SubmissionRefused, submission_id
from grader.intake.tree import open_regular
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from grader.report import GradeReport

KEYS = ("submission", "SIS Login ID", "SIS User ID", "ID")
_COLUMNS = (*KEYS, "Student", "Section")


@dataclass(frozen=True)
class Student:
    """One line of the roster, as it stands there."""

    name: str = ""
    id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    section: str = ""
    submission: str = ""

    @property
    def keys(self) -> dict[str, str]:
        """What a submission of this student may be called, by column."""
        ids = (self.submission, self.sis_login_id, self.sis_user_id, self.id)
        found = {column: folded(each) for column, each in zip(KEYS, ids, strict=True) if each.strip()}
        return {"submission": found["submission"]} if "submission" in found else found

    @property
    def shown(self) -> str:
        """For a message."""
        return printable(self.name or self.sis_login_id or self.sis_user_id or self.id or self.submission, 60)


@dataclass(frozen=True)
class Entry:
    """A student with a report, or one without the other."""

    report: GradeReport | None = None
    student: Student | None = None
    listed: bool = True
    """False for a report whose student the roster lacks."""

    @property
    def grade(self) -> GradeReport | None:
        """The report, where it holds a grade."""
        return self.report if self.report is not None and is_graded(self.report) else None

    @property
    def status(self) -> str:
        """One or two of `graded`, `provisional`, `ungraded`, `no submission`, `not on the roster`."""
        if self.report is None:
            return "no submission"
        word = "ungraded" if self.grade is None else "provisional" if self.grade.provisional else "graded"
        return word if self.listed else f"{word}, not on the roster"


def folded(key: str) -> str:
    """Equal for two spellings of one id: a Mac decomposes accents in names, logins differ in case."""
    return unicodedata.normalize("NFC", key.strip()).casefold()


def read_roster(path: Path) -> list[Student]:
    """The students of a roster file.

    Raises:
        BadInput: it is missing, not UTF-8 or CSV, lacks a header or any id, or has an id twice in one column.
    """
    shown = printable_path(path)
    text = _text(path, shown)
    header, _, below = text.partition("\n")
    first_row = 2
    separator = max(",;\t", key=header.count)
    if said := re.fullmatch(r"sep=(.)\r?", header, re.IGNORECASE):  # which Excel writes and no table is
        text, separator, first_row = below, said[1], 3
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = list(reader)
    except (csv.Error, TypeError, ValueError) as error:  # the latter for a separator that cannot be one
        raise BadInput(f"--roster {shown}: not a CSV file ({error})") from None
    names = [name.strip().casefold() for name in reader.fieldnames or ()]
    for column in _COLUMNS:
        if names.count(column.casefold()) > 1:
            raise BadInput(f"--roster {shown}: has the column {column} twice, keep the right one")
    columns = {name.strip().casefold(): name for name in (rows[0] if rows else {}) if name}
    if not any(key.casefold() in columns for key in KEYS):
        raise BadInput(f"--roster {shown}: has none of the columns {', '.join(KEYS)}, or no student")
    students = []
    owners: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows, start=first_row):
        if None in row:
            raise BadInput(f"--roster {shown}: row {number} has more cells than the header, quote its commas")
        student = _student({key: row[name] or "" for key, name in columns.items()})
        if "points possible" in student.name.casefold() and not student.keys:
            continue  # the second line of Canvas's export
        if not student.keys:
            if any((value or "").strip() for value in row.values()):
                raise BadInput(f"--roster {shown}: row {number} ({student.shown}) has no id")
            continue
        for column, key in student.keys.items():
            if (column, key) in owners:
                raise BadInput(
                    f"--roster {shown}: rows {owners[column, key]} and {number} both have the {column} "
                    f"{printable(key, 60)}"
                )
            owners[column, key] = number
        students.append(student)
    return students


def _text(path: Path, shown: str) -> str:
    """The file's text, from an ordinary file only: a FIFO would be waited for."""
    try:
        with open(open_regular(path, follow=True), encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise BadInput(f"--roster {shown}: not UTF-8, save it as CSV UTF-8") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"--roster {shown}: cannot be read ({reason})") from None
    if "\0" in text:  # every second byte of plain letters in UTF-16 is one
        raise BadInput(f"--roster {shown}: not UTF-8 but UTF-16, it seems, save it as CSV UTF-8")
    return text


def _student(row: dict[str, str]) -> Student:
    return Student(
        name=row.get("student", "").strip(),
        id=row.get("id", "").strip(),
        sis_user_id=row.get("sis user id", "").strip(),
        sis_login_id=row.get("sis login id", "").strip(),
        section=row.get("section", "").strip(),
        submission=row.get("submission", "").strip(),
    )


def _as_id(key: str) -> str:
    """What a folder or zip of this name is called in its report, where not every letter of a name stays."""
    try:
        return folded(submission_id(Path(key.replace("/", "_"))))
    except SubmissionRefused:
        return key


def matched(reports: Sequence[GradeReport], roster: Sequence[Student] | None) -> list[Entry]:
    """Every student of the roster once, in its order, then the reports that it does not know.

    Raises:
        BadInput: two submissions are one student's, or a submission could be that of two.
    """
    if roster is None:
        return [Entry(report) for report in reports]
    owners: dict[str, list[Student]] = {}
    for student in roster:
        for key in {same for each in student.keys.values() for same in (each, _as_id(each))}:
            owners.setdefault(key, []).append(student)
    by_student: dict[Student, GradeReport] = {}
    strangers = []
    for report in reports:
        candidates = owners.get(folded(report.submission.id), [])
        if not candidates:
            strangers.append(Entry(report, listed=False))
            continue
        owner = candidates[0]
        if len(candidates) > 1:
            raise BadInput(
                f"{printable(report.submission.id, 60)}: an id of {owner.shown} and of {candidates[1].shown}; "
                "give the roster a column submission"
            )
        if owner in by_student:
            raise BadInput(
                f"{owner.shown}: two submissions, {printable(by_student[owner].submission.id, 60)} and "
                f"{printable(report.submission.id, 60)}; name the one that counts"
            )
        by_student[owner] = report
    return [Entry(by_student.get(student), student) for student in roster] + strangers
