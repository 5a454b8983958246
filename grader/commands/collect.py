"""`grader collect`: a platform's download into `submitted/<student>/<assignment>/`, by the roster."""

import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

from grader.course.downloads import FORMATS, Found, read_archive
from grader.course.grading import submission_time
from grader.course.settings import Course, read_course
from grader.exports.roster import Student, folded, read_roster
from grader.intake import SubmissionRefused, submission_id
from grader.kit import Kit
from grader.printable import printable
from grader.refusal import SOME_NOT_GRADED, BadInput

_TIME = "timestamp.txt"
"""Where nbgrader reads when a submission was handed in."""


def run(
    kit: Kit, format_name: str, archive: Path, directory: Path, assignment: str, roster_file: Path
) -> int:
    """Collect one assignment; the exit code: 0, or 3 when something is nobody's, or is nothing that can be graded."""
    if format_name not in FORMATS:
        choices = ", ".join(sorted(FORMATS))
        raise BadInput(f"format {printable(format_name, 40)}: no such format, choose one of {choices}")
    course = read_course(directory, kit)
    if assignment not in course.names:
        raise BadInput(f"--assignment {printable(assignment, 40)}: {course.why_not_here(assignment)}")
    roster = read_roster(roster_file)
    found, strange = FORMATS[format_name](read_archive(archive))
    owners = _owners(roster)
    there: set[str] = set()
    lost = list(strange)
    for one in found:
        students, unmatched = _students(one, owners)
        lost += [
            f"not on the roster: {printable(each, 60)} ({printable(one.name, 60)})" for each in unmatched
        ]
        for student in students:
            name = folder_name(student)
            there.add(name)
            files, left_out = _named(one.files, assignment)
            lost += [f"{name}: {each}" for each in left_out]
            if files:
                print(_place(course, name, assignment, files, one.at))
                continue
            wrong = one.what_is_wrong or "nothing of it can be collected"
            stays = (course.root / "submitted" / name / assignment).is_dir()
            lost.append(f"{name}: {wrong}{'; what was collected before stays' if stays else ''}")
    for line in lost:
        print(line, file=sys.stderr)
    for student in roster:
        if folder_name(student) not in there:
            print(f"no submission: {student.shown}", file=sys.stderr)
    return SOME_NOT_GRADED if lost else 0


def folder_name(student: Student) -> str:
    """What a student is called in the course: the first id of the roster, safe as a file name.

    Raises:
        BadInput: no id can be one.
    """
    for each in (student.submission, student.sis_login_id, student.sis_user_id, student.id):
        if each.strip():
            try:
                return submission_id(Path(each.strip().replace("/", "_")))
            except SubmissionRefused as refusal:
                raise BadInput(f"{student.shown}: {refusal}") from None
    raise BadInput(f"{student.shown}: no id on the roster")


def _owners(roster: Sequence[Student]) -> dict[str, list[Student]]:
    """By every id of the roster, also those that a `submission` column does not put in the first place."""
    owners: dict[str, list[Student]] = {}
    for student in roster:
        ids = {student.submission, student.sis_login_id, student.sis_user_id, student.id}
        for key in {folded(each) for each in ids if each.strip()}:
            owners.setdefault(key, []).append(student)
    return owners


def _students(one: Found, owners: dict[str, list[Student]]) -> tuple[list[Student], list[str]]:
    """Whose it is, and the keys that are nobody's; a key of two students is nobody's."""
    matches = {key: owners.get(folded(key), []) for key in one.keys if key.strip()}
    found = [each[0] for each in matches.values() if len(each) == 1]
    if one.each_key_is_somebody:
        return found, [key for key, each in matches.items() if len(each) != 1] or (
            [] if matches else [one.name]
        )
    return found[:1], [] if found else [one.keys[0] if one.keys else one.name]


def _place(
    course: Course, student: str, assignment: str, files: Mapping[str, bytes], at: datetime | None
) -> str:
    """Write the submission, unless a later one is there; a line that says so."""
    target = course.root / "submitted" / student / assignment
    before = submission_time(target) if target.is_dir() else None
    if before is not None and at is not None and at < before:
        return f"{student}: kept what was handed in {before:%Y-%m-%d %H:%M}, later than {at:%Y-%m-%d %H:%M}"
    again = target.is_dir()
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".collecting-", dir=target.parent))
    try:
        for name, content in files.items():
            path = building / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if at is not None:
            (building / _TIME).write_text(_stamp(at), encoding="ascii")
        building.chmod(0o755)
        shutil.rmtree(target, ignore_errors=True)
        building.rename(target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    time = f", handed in {at:%Y-%m-%d %H:%M} UTC" if at else ""
    return f"{student}: {len(files)} file{'s' * (len(files) != 1)}{time}{', again' if again else ''}"


def _named(files: Mapping[str, bytes], assignment: str) -> tuple[dict[str, bytes], list[str]]:
    """Files by safe paths, and what has none; the only notebook gets the assignment's name, by which nbgrader knows it.

    Where one path is a file and a folder, the file is taken: a folder cannot hold both.
    """
    notebooks = [name for name in files if name.lower().endswith(".ipynb")]
    named: dict[str, bytes] = {}
    left_out = []
    for name, content in files.items():
        path = PurePosixPath(name)
        parts = [part for part in path.parts if part not in ("/", "..", ".")]
        if len(notebooks) == 1 and name == notebooks[0]:
            parts = [f"{assignment}.ipynb"]
        if parts and all(part.isprintable() and len(part.encode()) < 200 for part in parts):
            named["/".join(parts[-6:])] = content
        else:
            left_out.append(f"{printable(name, 60)}: not taken, no file can be called so")
    for name in list(named):
        above = {str(each) for each in PurePosixPath(name).parents}
        if clash := next((each for each in above if each in named or each == _TIME), None):
            del named[name]
            left_out.append(f"{printable(name, 60)}: not taken, {printable(clash, 60)} is a file there")
    return named, left_out


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC\n"
