"""What the timing judge hands back: a share of the points with its interval, or why there is none."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from grader.clock.interval import Interval
from grader.outcome import Model, Outcome


class TimingOutcome(StrEnum):
    """How a grading ended. Only `scored` and `integrity` decide points."""

    SCORED = "scored"
    INCONCLUSIVE = "inconclusive"
    INTEGRITY = "integrity"
    GRADER_ERROR = "grader_error"


def key_of(exercise: str, check: str) -> str:
    """Under which an earlier verdict is kept: other exercises have checks of the same name.

    Args:
        exercise: its full name, as `flash_attention.performance`.
        check: the name of the check.
    """
    return f"{exercise}::{check}"


class Dropped(Model):
    """Quads that were measured and do not count, by reason."""

    reason: str
    quads: int = Field(gt=0)


class ShapeTiming(Model):
    """One shape: its ratio, what of it counts, and what did not."""

    shape: str
    """As `TimedShape.label` writes it."""
    quads: int
    """Quads of blocks that count: two blocks of the baseline and two of the submission each."""
    calls: int
    """Calls in a block."""
    ratio: float | None = None
    """Median over the quads of the submission's time over the baseline's; None without any."""
    interval: Interval
    """Of that ratio: 0 to infinity while there are too few quads."""
    share: Interval
    """Of the points, by the curve: `low` belongs to the interval's high end."""
    baseline_s: float | None = None
    """Median of one call, the empty call's time taken off, seconds."""
    submission_s: float | None = None
    """The same of the submission."""
    floor_s: float
    """Nobody is believed below it, seconds."""
    dropped: tuple[Dropped, ...] = ()


class TimingVerdict(Model):
    """One grading of one performance exercise."""

    outcome: TimingOutcome
    share: float | None = Field(default=None, ge=0, le=1)
    """Share of the points: the favourable end of `interval` where scored, 0 where integrity, else None (pending)."""
    interval: Interval
    """Of the share, that of the slowest shape; [0, 1] where nothing is known."""
    reason: str
    """One sentence for the student and the staff."""
    attempt: int = Field(ge=1)
    next: Literal["done", "requeue", "staff"]
    """What becomes of it: pending verdicts are queued again twice, then listed for staff."""
    shapes: tuple[ShapeTiming, ...] = ()
    geometric_mean: float | None = None
    """Of the shapes' ratios: to show, never to score by."""
    device_s: float = Field(ge=0)
    """How long the device was held, seconds, by the witness clock."""
    alpha: float = Field(gt=0, lt=1)
    """Bound on the probability that any shape's interval ever misses its ratio, in this attempt."""
    sm_clock_mhz: Interval | None = None
    """Slowest and fastest that was sampled."""
    temperature_c: float | None = None
    """Highest that was sampled."""
    fingerprint: dict[str, str] = Field(default_factory=dict)
    """On what: GPU, card, driver, torch, triton, hash of what was timed."""

    @model_validator(mode="after")
    def _decided_or_pending(self) -> Self:
        decided = self.outcome in (TimingOutcome.SCORED, TimingOutcome.INTEGRITY)
        if decided != (self.share is not None) or decided != (self.next == "done"):
            raise ValueError(f"a verdict of {self.outcome} with share {self.share} and next {self.next!r}")
        return self

    @property
    def pending(self) -> bool:
        """Nobody can say yet: neither zero nor given."""
        return self.share is None

    @property
    def check_outcome(self) -> Outcome:
        """What a check of the grade report becomes; a scored share below 1 is `failed` for what is missing."""
        if self.outcome is TimingOutcome.SCORED:
            return Outcome.PASSED if self.share == 1 else Outcome.FAILED
        return Outcome(self.outcome.value)
