"""A student's page: what holds, what does not and why, what is pending; as HTML, as Markdown, and zipped.

A page is for the student: of a hidden check it has the claim, the kit's message and the hint (`told`).
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from grader.exports import told
from grader.exports.plain import line, markdown, score
from grader.report import ExerciseResult, GradeReport

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: the same bytes every time


@dataclass(frozen=True)
class Part:
    """One exercise on the page."""

    id: str
    title: str
    verdict: str
    style: str
    points: str
    most: str
    extra: bool
    pending: str
    todo: str
    holds: tuple[str, ...]
    findings: tuple[told.Finding, ...]


class Raw(str):
    """Markdown that is ready, which `finalize` leaves alone."""

    __slots__ = ()


def feedback_html(report: GradeReport) -> str:
    """One self-contained page: no script, nothing loaded, prints on paper."""
    return _page("feedback.html.j2", report)


def feedback_markdown(report: GradeReport) -> str:
    """The same as CommonMark; messages stand in fenced blocks, everything else is escaped."""
    return _page("feedback.md.j2", report)


def zipped(files: Mapping[str, str]) -> bytes:
    """The files in one zip, sorted, with fixed times: the same bytes for the same reports."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _ZIP_TIME)
            entry.create_system = 3  # Unix, whatever wrote it
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name].encode("utf-8"))
    return stream.getvalue()


def _page(template: str, report: GradeReport) -> str:
    page = _environment(template.endswith(".html.j2")).get_template(template)
    assignments = {each.id.split(".")[0] for each in report.exercises}
    return page.render(
        name=line(report.submission.id),
        summary=told.summary(report),
        error=bool(report.error),
        only=bool(report.only),
        level=report.environment.isolation,
        version=line(report.environment.kit_version),
        missing=[line(each) for each in report.submission.missing if each.split("/")[0] in assignments],
        notes=[line(each, 300) for each in _together(report.submission.notes)],
        parts=[_part(each) for each in report.exercises],
    )


def _together(notes: Sequence[str]) -> Iterator[str]:
    """The notes, those on many files that were left out for one reason as one: the tests of a whole folder, say."""
    files: dict[str, list[str]] = {}
    for note in notes:
        name, _, why = note.partition(": ")
        files.setdefault(why if why.startswith("not copied") else note, []).append(name)
    for why, names in files.items():
        if not why.startswith("not copied"):
            yield why
        elif len(names) <= 2:
            yield from (f"{name}: {why}" for name in names)
        else:
            yield f"{names[0]} and {len(names) - 1} more: {why}"


def _part(exercise: ExerciseResult) -> Part:
    open_ = told.wholly_pending(exercise)
    return Part(
        id=line(exercise.id),
        title=line(exercise.title),
        verdict=told.word(exercise.outcome),
        style="pending" if exercise.outcome.pending else exercise.outcome.value,
        points="pending" if open_ else score(exercise.points),
        most=score(exercise.max_points),
        extra=exercise.extra_credit,
        pending=score(exercise.pending_points) if exercise.pending_points else "",
        todo=line(exercise.todo) if exercise.outcome == "todo" else "",
        holds=tuple(told.holds(exercise)),
        findings=tuple(told.findings(exercise)),
    )


@cache
def _environment(html: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader("grader.exports", "."),
        autoescape=html,  # noqa: S701 (the Markdown one escapes by `finalize`)
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=None if html else _escaped,
    )
    environment.filters["fence"] = _fence
    return environment


def _escaped(value: object) -> object:
    """Every expression of the Markdown template goes through here."""
    return value if isinstance(value, Raw) else markdown(str(value))


def _fence(text: str) -> Raw:
    """A fenced block, whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Raw(f"{fence}text\n{text}\n{fence}")
