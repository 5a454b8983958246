"""The grade report: what one run found out about one submission, typed, versioned, and JSON on disk."""

import os
import tempfile
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from grader.clock.verdict import TimingVerdict
from grader.outcome import PENDING, Model, Outcome

__all__ = [
    "PENDING",
    "SCHEMA_VERSION",
    "CheckResult",
    "Environment",
    "Evidence",
    "ExerciseResult",
    "GradeReport",
    "Model",
    "Outcome",
    "ReportUnreadable",
    "SubmissionInfo",
    "read_report",
    "write_atomically",
    "write_report",
]

SCHEMA_VERSION = 1


class Evidence(Model):
    """A number attached to a check."""

    name: str
    value: float
    unit: str = ""
    measured_in_worker: bool = False
    """True for what the submission's own process could have forged; such a number decides nothing alone."""


class CheckResult(Model):
    """One check: a claim about an exercise, and what became of it."""

    name: str
    claim: str
    """The test's docstring: the sentence that a student reads."""
    outcome: Outcome
    weight: float = 1.0
    hidden: bool = False
    message: str = ""
    """Written by the kit: never a hidden input, never an expected hidden value."""
    hint: str = ""
    mistake: str = ""
    """Name of the mistake whose hint is shown; for staff."""
    evidence: tuple[Evidence, ...] = ()
    duration_s: float = 0.0
    timing: TimingVerdict | None = None
    """Of a timed check: what was measured; its `share` is what the check earns of its weight."""

    @model_validator(mode="after")
    def _one_verdict(self) -> Self:
        if self.timing is not None and self.timing.check_outcome is not self.outcome:
            raise ValueError(f"a check is {self.outcome}, and its timing says {self.timing.check_outcome}")
        return self

    @property
    def earned_weight(self) -> float:
        """What of the weight is earned."""
        if self.timing is not None:
            return self.weight * (self.timing.share or 0.0)
        return self.weight if self.outcome is Outcome.PASSED else 0.0


class ExerciseResult(Model):
    """One exercise with its checks and its score."""

    id: str
    """`memory.parameter_count`"""
    title: str
    outcome: Outcome
    points: float
    max_points: float
    pending_points: float = 0.0
    extra_credit: bool = False
    todo: str = ""
    checks: tuple[CheckResult, ...] = ()


class SubmissionInfo(Model):
    """Which files were graded."""

    id: str
    sha256: str = ""
    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ReviewNote(Model):
    """Something in a submission's source that deserves a look; for staff, and no verdict."""

    file: str
    line: int
    weight: Literal["look", "note"]
    """A note is what honest code does every day."""
    what: str


class Environment(Model):
    """With what, and how far one may trust it."""

    isolation: Literal["local", "process", "user", "sandbox"]
    kit_version: str
    kit_sha256: str = ""
    """Over specs, checks and oracles: a changed one means that the submission has to be graded again."""
    seed_id: str = ""
    """Names the secret seed of the hidden cases without giving it away."""
    python: str = ""
    platform: str = ""
    libraries: dict[str, str] = Field(default_factory=dict)


class GradeReport(Model):
    """One submission, graded."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["official", "self-check"]
    submission: SubmissionInfo
    environment: Environment
    exercises: tuple[ExerciseResult, ...] = ()
    review: tuple[ReviewNote, ...] = ()
    """For staff: no page or export for students shows it."""
    error: str = ""
    """Why the submission could not be graded, when it could not; its points are then pending."""
    only: tuple[str, ...] = ()
    """Exercises asked for with --only; empty means all."""
    started_at: str = ""
    duration_s: float = 0.0

    @property
    def points(self) -> float:
        """Points earned, extra credit included."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def max_points(self) -> float:
        """Points to be had without extra credit."""
        return sum(exercise.max_points for exercise in self.exercises if not exercise.extra_credit)

    @property
    def pending_points(self) -> float:
        """Points that nobody could decide on this machine."""
        return sum(exercise.pending_points for exercise in self.exercises)

    @property
    def provisional(self) -> bool:
        """True while points are pending or the submission could not be graded."""
        return bool(self.error) or self.pending_points > 0

    def of(self, assignment: str) -> tuple[ExerciseResult, ...]:
        """The exercises of one assignment."""
        return tuple(each for each in self.exercises if each.id.split(".")[0] == assignment)


class ReportUnreadable(ValueError):
    """A report file is missing, truncated or of another version; one line says which."""


def write_report(report: GradeReport, path: Path) -> None:
    """Write `report` so that a reader sees the old file or the new one and never half of one."""
    write_atomically(path, report.model_dump_json(indent=1) + "\n")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace `path` by `content` in one step; a crash in between leaves the old file."""
    raw = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    # Some letters of the name: all of a long one and the rest together would be longer than a name may be.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:16]}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_report(path: Path) -> GradeReport:
    """Read one report.

    Raises:
        ReportUnreadable: the file is missing, is not JSON, or does not fit this version.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportUnreadable(f"{path}: cannot be read ({type(error).__name__})") from None
    try:
        report = GradeReport.model_validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise ReportUnreadable(f"{path}: not a report of this version ({problem['msg']})") from None
    if report.schema_version != SCHEMA_VERSION:
        raise ReportUnreadable(
            f"{path}: report version {report.schema_version}, this kit reads {SCHEMA_VERSION}"
        )
    return report
