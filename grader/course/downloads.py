"""Reads what a learning platform lets one download: whose work is in it, since when, and which files.

One function a platform. Nothing is extracted: files of an archive, and of archives in it, are read under a cap, and a
path in an archive decides no place on disk.
"""

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from csv import DictReader
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from grader.course.settings import utc
from grader.printable import printable
from grader.refusal import BadInput
from specs.schema import SpecError, read_yaml

MAX_FILES = 50_000
MAX_FILE_BYTES = 32 << 20
MAX_SUBMISSION_BYTES = 64 << 20
"""Of what is taken of one submission, unpacked: a zip of 2 MB can hold 2 GB."""
MAX_SUBMISSION_FILES = 2_000
_WANTED = (".py", ".ipynb", ".zip")
_SKIPPED = {"__MACOSX", ".git", ".ipynb_checkpoints", "__pycache__", "venv", ".venv", "node_modules"}

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    RuntimeError,  # it has a password; NotImplementedError is one too
    EOFError,
    ValueError,
)
"""What reading a damaged zip, or a file in one, can raise."""

Files = dict[PurePosixPath, tuple[Callable[[], bytes], datetime | None]]
"""How to read each file of an archive, and when it was written."""


@dataclass
class Found:
    """One submission: what the platform calls its people, its time, its files."""

    name: str
    keys: list[str] = field(default_factory=list)
    """Any of them may stand in the roster; of a group, several people."""
    files: dict[str, bytes] = field(default_factory=dict)
    at: datetime | None = None
    each_key_is_somebody: bool = False
    """True for a group: every key is one person of it."""
    other: list[str] = field(default_factory=list)
    """Names of files that are of no kind that can be graded."""
    size_bytes: int = 0
    too_much: str = ""
    """Why nothing of it is taken, where it holds more than a submission may."""

    def take(self, name: str, content: bytes) -> None:
        """Take a file, or drop them all where they become too many or too large together."""
        self.size_bytes += len(content) - len(self.files.get(name, b""))
        self.files[name] = content
        if self.size_bytes > MAX_SUBMISSION_BYTES:
            self.too_much = f"holds more than {MAX_SUBMISSION_BYTES >> 20} MiB"
        elif len(self.files) > MAX_SUBMISSION_FILES:
            self.too_much = f"holds more than {MAX_SUBMISSION_FILES:,} notebooks and .py files"
        if self.too_much:
            self.files.clear()

    @property
    def what_is_wrong(self) -> str:
        """Why there is nothing to grade in it, by the first few of its files; empty where there is something."""
        if self.files:
            return ""
        if self.too_much:
            return f"{self.too_much}, nothing of it was taken"
        if not self.other:
            return "no notebook and no .py file was handed in"
        names = [printable(each, 60) for each in self.other[:3]]
        more = f" and {len(self.other) - 3} more" if len(self.other) > 3 else ""
        if len(self.other) == 1:
            return f"{names[0]} is neither a notebook nor a .py file"
        return f"{', '.join(names)}{more}: neither a notebook nor a .py file among them"


def read_archive(path: Path) -> Files:
    """The files of a folder or a zip, links and hidden places left out.

    Raises:
        BadInput: it is neither, or holds too much.
    """
    if path.is_dir():
        found: Files = {}
        for each in sorted(path.rglob("*")):
            relative = PurePosixPath(each.relative_to(path).as_posix())
            if each.is_file() and not each.is_symlink() and not _SKIPPED & set(relative.parts):
                at = datetime.fromtimestamp(each.stat().st_mtime, UTC).replace(microsecond=0)
                found[relative] = (_reader(each), at)
        return _bounded(found, path)
    try:
        return _bounded(_zipped(path.read_bytes()), path)
    except FileNotFoundError:
        raise BadInput(f"{printable(str(path))}: no such file or folder") from None
    except _UNREADABLE as error:
        raise BadInput(f"{printable(str(path))}: neither a folder nor a zip ({error})") from None


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        with path.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)

    return read


def _zipped(content: bytes) -> Files:
    found: Files = {}
    archive = zipfile.ZipFile(io.BytesIO(content))
    for info in archive.infolist()[: MAX_FILES + 1]:
        relative = PurePosixPath(info.filename)
        if (
            info.is_dir()
            or relative.is_absolute()
            or ".." in relative.parts
            or _SKIPPED & set(relative.parts)
        ):
            continue
        found[relative] = (_member(archive, info), _written(info))
    return found


def _written(info: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*info.date_time, tzinfo=UTC) if info.date_time[0] > 1980 else None
    except ValueError:  # month 0, hour 31: what two fields of bits can hold
        return None


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        with archive.open(info) as stream:
            return stream.read(MAX_FILE_BYTES + 1)

    return read


def _bounded(found: Files, path: Path) -> Files:
    if len(found) > MAX_FILES:
        raise BadInput(f"{printable(str(path))}: holds more than {MAX_FILES} files")
    return found


def _why(error: Exception) -> str:
    return "damaged" if isinstance(error, zlib.error | lzma.LZMAError) else type(error).__name__


def add_file(found: Found, name: PurePosixPath, content: bytes) -> str:
    """Take a file, or what a zip holds, into a submission; what is wrong with it, in a few words."""
    if len(content) > MAX_FILE_BYTES:
        return f"{name}: larger than {MAX_FILE_BYTES >> 20} MiB"
    if name.suffix.lower() != ".zip":
        found.take(str(name), content)
        return ""
    try:
        inside = _zipped(content)
        for path, (read, _) in inside.items():
            if found.too_much:
                break
            if path.suffix.lower() in (".py", ".ipynb"):
                part = read()
                if len(part) > MAX_FILE_BYTES:
                    return f"{path}: larger than {MAX_FILE_BYTES >> 20} MiB"
                found.take(str(path), part)
            else:
                found.other.append(f"{name}/{path}")
    except _UNREADABLE as error:
        return f"{name}: cannot be read ({_why(error)})"
    return ""


_CANVAS = re.compile(r"^(?P<who>.+?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<attachment>\d+)_(?P<name>.+)$")
_AGAIN = re.compile(r"-\d+(?=\.\w+$)")


def canvas(files: Files) -> tuple[list[Found], list[str]]:
    """Canvas's "Download Submissions": `amaraokafor_LATE_1201_77_memory-1.ipynb`, all in one folder.

    Canvas's own id is in the name; the time is that of the archive's entry. `-1` says that it was handed in again.

    Source: names as Canvas writes them, e.g. the README of mikewesthad/canvas-unzipper; not tried on a server.
    """
    found: dict[str, Found] = {}
    strange: list[str] = []
    for path, (read, at) in files.items():
        match = _CANVAS.match(path.name)
        if match is None:
            strange.append(f"{path.name}: not named as Canvas does it")
            continue
        one = found.setdefault(match["id"], Found(match["who"], [match["id"]], at=at))
        if at is not None and (one.at is None or at > one.at):
            one.at = at
        strange += _take(one, PurePosixPath(_AGAIN.sub("", match["name"])), read)
    return list(found.values()), strange


def gradescope(files: Files) -> tuple[list[Found], list[str]]:
    """Gradescope's "Export Submissions": `submission_metadata.yml` and a folder a submission, groups included.

    A student may hand in a file of that name, too: the one nearest to the root is Gradescope's.
    """
    metadata = _metadata(files)
    top = metadata.parent
    data = _yaml(_needed(metadata, files[metadata][0]))
    found: dict[str, Found] = {}
    for name, entry in data.items():
        if not isinstance(entry, Mapping):
            continue
        people = [each for each in entry.get(":submitters") or [] if isinstance(each, Mapping)]
        keys = [str(each.get(":sid") or each.get(":email") or "") for each in people]
        at = entry.get(":created_at")
        found[str(name)] = Found(
            ", ".join(str(each.get(":name", "")) for each in people) or str(name),
            keys,
            at=_moment(at),
            each_key_is_somebody=True,
        )
    strange: list[str] = []
    for path, (read, _) in files.items():
        relative = path.relative_to(top) if path.is_relative_to(top) else path
        owner = found.get(relative.parts[0]) if len(relative.parts) > 1 else None
        if owner is not None:
            strange += _take(owner, PurePosixPath(*relative.parts[1:]), read)
    return list(found.values()), strange


def _metadata(files: Files) -> PurePosixPath:
    places = sorted(
        (path for path in files if path.name == "submission_metadata.yml"), key=lambda path: len(path.parts)
    )
    if not places:
        raise BadInput("gradescope: no submission_metadata.yml in it, name the archive of Export Submissions")
    if len(places) > 1 and len(places[0].parts) == len(places[1].parts):
        first, second = (printable(str(each), 60) for each in places[:2])
        raise BadInput(f"gradescope: {first} and {second}: two exports, name one at a time")
    return places[0]


def _needed(path: PurePosixPath, read: Callable[[], bytes]) -> bytes:
    """The platform's own table, without which nothing can be collected."""
    try:
        return read()
    except _UNREADABLE as error:
        raise BadInput(
            f"{printable(path.name, 60)}: cannot be read ({_why(error)}), download it again"
        ) from None


def _yaml(content: bytes) -> dict[str, Any]:
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".yml") as file:
        file.write(content)
        file.flush()
        try:
            data = read_yaml(Path(file.name))
        except SpecError as error:
            raise BadInput(f"submission_metadata.yml: {str(error).partition(': ')[2]}") from None
    if not isinstance(data, dict):
        raise BadInput("submission_metadata.yml: holds no submissions")
    return data


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    try:
        return utc(str(value)) if value else None
    except ValueError:
        return None


def classroom(files: Files) -> tuple[list[Found], list[str]]:
    """A folder of student repositories, `memory-amaraok/`, and GitHub Classroom's grades CSV beside them.

    A repository's folder ends in the student's login. Time and login are those of the CSV (`github_username`,
    `submission_timestamp`) where there is one; else the newest file's time counts.
    """
    found: dict[str, Found] = {}
    strange: list[str] = []
    table: dict[str, tuple[str, datetime | None]] = {}
    for path, (read, _) in files.items():
        if len(path.parts) == 1 and path.suffix.lower() == ".csv":
            for row in DictReader(io.StringIO(_needed(path, read).decode("utf-8-sig", "replace"))):
                login = (row.get("github_username") or "").strip()
                stamp = (row.get("submission_timestamp") or "").strip()
                if login:
                    table[login] = ((row.get("roster_identifier") or "").strip(), _moment(stamp))
    for path, (read, at) in files.items():
        if len(path.parts) < 2:
            continue
        folder = path.parts[0]
        login = next(
            (
                each
                for each in sorted(table, key=len, reverse=True)
                if folder.casefold().endswith(f"-{each.casefold()}")
            ),
            folder.partition("-")[2] or folder,
        )
        listed, stamp = table.get(login, ("", None))
        one = found.setdefault(folder, Found(login, [login, *([listed] if listed else [])], at=stamp or at))
        if stamp is None and at is not None and (one.at is None or at > one.at):
            one.at = at
        strange += _take(one, PurePosixPath(*path.parts[1:]), read)
    return list(found.values()), strange


def folder(files: Files) -> tuple[list[Found], list[str]]:
    """A folder or zip with an entry a student: `amara/`, `amara.zip` or `amara.ipynb`; the newest file's time."""
    found: dict[str, Found] = {}
    strange: list[str] = []
    for path, (read, at) in files.items():
        alone = len(path.parts) == 1
        name = path.stem if alone else path.parts[0]
        beside = alone and path.suffix.lower() not in _WANTED  # decides no time of what it lies beside
        if beside and path.name.startswith("."):
            continue
        one = found.setdefault(name, Found(path.name if beside else name, [name], at=None if beside else at))
        if not beside and at is not None and (one.at is None or at > one.at):
            one.at = at
        strange += _take(one, PurePosixPath(path.name) if alone else PurePosixPath(*path.parts[1:]), read)
    return list(found.values()), strange


def _take(found: Found, name: PurePosixPath, read: Callable[[], bytes]) -> Iterator[str]:
    if name.suffix.lower() not in _WANTED:
        if not name.name.startswith("."):
            found.other.append(str(name))
        return
    if found.too_much:
        return
    try:
        problem = add_file(found, name, read())
    except _UNREADABLE as error:
        problem = f"{name}: cannot be read ({_why(error)})"
    if problem:
        yield f"{found.name}: {problem}"


FORMATS: dict[str, Callable[[Files], tuple[list[Found], list[str]]]] = {
    "canvas": canvas,
    "classroom": classroom,
    "folder": folder,
    "gradescope": gradescope,
}
