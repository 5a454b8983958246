"""What a performance exercise is timed on, and how a time becomes points: shapes, baseline, curve, thresholds.

A row of thresholds is a curve and, once somebody measured it, the record of that. Three things follow from the record:

- a row without one is `unmeasured`: nobody knows yet that the course's solution earns full marks on that card and a
  naive kernel none, so points stay pending unless the instructor accepts ratios all the same;
- a ratio of two times in one run carries over between cards of one chip (`SAME_CHIP`), so a measured row stands for
  the others too;
- absolute times carry over to no other card. `Timing.baseline_s` gives them for the card that they were taken on.
"""

import hashlib
import json
import math
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from specs.dtypes import DType
from specs.gpu import gpu_of_device
from specs.model import Count
from specs.schema import Spec

SAME_CHIP = (frozenset({"h100-sxm", "h200-sxm"}),)
"""Cards between which ratios carry over: as many SMs with the same peak, only the HBM differs, and kernels that are
worth points wait for the tensor cores. An H100 PCIe has fewer SMs at other clocks and stands for itself."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Status = Literal["measured", "carried", "unmeasured", "none"]


class TimedShape(Spec):
    """One shape of attention that is timed."""

    direction: Literal["forward", "backward"]
    batch: Count
    heads: Count
    kv_heads: Count
    tokens: Count
    head_dim: Count
    causal: bool
    dtype: DType

    @property
    def flops(self) -> float:
        """4·B·H·T²·D forward, half of it causal, 2.5 times as much backward (FlashAttention, section 4)."""
        forward = 4.0 * self.batch * self.heads * self.tokens**2 * self.head_dim / (2 if self.causal else 1)
        return forward * (2.5 if self.direction == "backward" else 1)

    @property
    def label(self) -> str:
        """In a few words, for tables: `forward 4×16×4096×128 causal bf16`; fewer heads of K and V as `32/8`."""
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        size = f"{self.batch}×{heads}×{self.tokens}×{self.head_dim}"
        return " ".join([self.direction, size, *(["causal"] if self.causal else []), self.dtype])


class MeasuredShape(Spec):
    """One shape on one card: the baseline, and how many times as long others took."""

    shape: str
    """As `TimedShape.label` writes it."""
    baseline_s: Positive
    """Median call of the baseline, seconds, what an empty call takes taken off."""
    solution_ratio: Positive
    """Of the course's own solution."""
    naive_ratio: Positive | None
    """Of attention with its whole score matrix; null: that did not fit on the card."""


class Measured(Spec):
    """Who measured a row, on what, and what they found. `grader calibrate` writes it."""

    who: str = Field(min_length=1)
    measured_on: date
    gpu: str
    """The card in specs/gpus.yaml."""
    card: str
    """What its driver calls it."""
    driver: str
    torch: str
    triton: str
    sm_clock_mhz: tuple[Positive, Positive]
    """Slowest and fastest that was sampled."""
    copy_gb_per_s: Positive
    """Read and written by a copy of device memory, 1e9 bytes a second: the memory's ceiling."""
    bf16_tflops: Positive
    """Of a large bf16 matmul, 1e12 operations a second: the tensor cores' ceiling."""
    empty_call_s: Positive
    """What the protocol itself takes, seconds; it is taken off everywhere."""
    spread: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Of the baseline's ratio to itself from run to run: largest over smallest, less 1."""
    spec_sha256: str
    """`Timing.sha256` of what was timed: the row means nothing for other shapes."""
    shapes: tuple[MeasuredShape, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_of_its_card(self) -> Self:
        sheet = gpu_of_device(self.card)
        if sheet is None or sheet.name != self.gpu:
            raise ValueError(
                f"card {self.card!r} is {sheet.name if sheet else 'no GPU of specs/gpus.yaml'}, not {self.gpu}"
            )
        return self


class Threshold(Spec):
    """The curve of one GPU: the ratio of a submission's time to the baseline's, mapped to a share of the points."""

    full_ratio: float = Field(gt=0)
    """At this ratio and below all points are earned."""
    zero_ratio: float = Field(gt=0)
    """At this ratio and above none are; the share falls with the logarithm of the ratio in between."""
    provenance: str = Field(min_length=1)
    """Where both ratios come from: why they were chosen."""
    measured: Measured | None = None
    """What the card itself says to them; null: nobody asked it yet."""

    @model_validator(mode="after")
    def _falls(self) -> Self:
        if self.zero_ratio <= self.full_ratio:
            raise ValueError(f"zero_ratio {self.zero_ratio} must be above full_ratio {self.full_ratio}")
        return self

    @model_validator(mode="after")
    def _measurement_bears_it_out(self) -> Self:
        """The course's invariant, on the card: its solution earns full marks, a naive kernel none."""
        if self.measured is None:
            return self
        slow = max(self.measured.shapes, key=lambda each: each.solution_ratio)
        if slow.solution_ratio > self.full_ratio:
            raise ValueError(
                f"full_ratio {self.full_ratio}: the solution itself takes {slow.solution_ratio:.3g} times the baseline "
                f"at {slow.shape} and would lose points"
            )
        naive = max(each.naive_ratio or math.inf for each in self.measured.shapes)
        if naive < self.zero_ratio:
            raise ValueError(
                f"zero_ratio {self.zero_ratio}: a naive kernel takes {naive:.3g} times the baseline at its worst shape "
                "and would earn points"
            )
        return self

    def share(self, ratio: float) -> float:
        """Share of the points at `ratio`: 1 up to `full_ratio`, 0 from `zero_ratio`, by the logarithm in between.

        Raises:
            ValueError: `ratio` is NaN or negative; 0 and infinity have a share.
        """
        if math.isnan(ratio) or ratio < 0:
            raise ValueError(f"a ratio of times of {ratio}: it must be 0 or more")
        if ratio <= self.full_ratio:
            return 1.0
        if ratio >= self.zero_ratio:
            return 0.0
        return math.log(self.zero_ratio / ratio) / math.log(self.zero_ratio / self.full_ratio)


class Timing(Spec):
    """How an exercise is timed."""

    baseline: str
    """The module of kernels_ref that is timed in the same run."""
    shapes: tuple[TimedShape, ...] = Field(min_length=1)
    thresholds: dict[str, Threshold] = Field(default_factory=dict)
    """By name of a GPU, as specs/gpus.yaml has it. On a GPU without one, the points stay pending."""

    @model_validator(mode="after")
    def _rows_are_of_their_gpus(self) -> Self:
        labels = sorted(each.label for each in self.shapes)
        for name, row in self.thresholds.items():
            found = row.measured
            if found is None:
                continue
            if found.gpu != name:
                raise ValueError(
                    f"thresholds.{name}: measured on {found.gpu}; times do not carry over, write it into that row"
                )
            if found.spec_sha256 != self.sha256 or sorted(each.shape for each in found.shapes) != labels:
                raise ValueError(
                    f"thresholds.{name}: measured on other shapes or another baseline; run grader calibrate again, or "
                    "take `measured` out"
                )
        return self

    @property
    def sha256(self) -> str:
        """Over what is timed, baseline and shapes; the curves are not in it."""
        timed = [self.baseline, [each.model_dump(mode="json") for each in self.shapes]]
        return hashlib.sha256(json.dumps(timed, sort_keys=True).encode()).hexdigest()

    def status(self, gpu: str) -> Status:
        """What is known of a GPU: `none` where it has no row; `carried` where another card of its chip was measured."""
        if gpu not in self.thresholds:
            return "none"
        source = self._measured_for(gpu)
        return "unmeasured" if source is None else "measured" if source == gpu else "carried"

    def curve(self, gpu: str, *, accept_unmeasured: bool = False) -> Threshold | None:
        """The curve by which points are given on a GPU; None: they stay pending.

        Args:
            accept_unmeasured: the instructor takes ratios to the baseline for good on a card that nobody measured.
        """
        source = self._measured_for(gpu)
        if source is not None:
            return self.thresholds[source]
        return self.thresholds.get(gpu) if accept_unmeasured else None

    def baseline_s(self, gpu: str, shape: TimedShape) -> float | None:
        """Seconds of one call of the baseline, as measured on that very GPU; None where nobody did.

        Never taken from another card, be it of the same chip: only ratios carry over.
        """
        row = self.thresholds.get(gpu)
        measured = row.measured.shapes if row and row.measured else ()
        return next((each.baseline_s for each in measured if each.shape == shape.label), None)

    def _measured_for(self, gpu: str) -> str | None:
        """Whose measured row holds for a GPU that has a row: its own, or that of a card of its chip."""
        if gpu not in self.thresholds:
            return None
        chip = next((cards for cards in SAME_CHIP if gpu in cards), frozenset())
        for name in (gpu, *sorted(chip - {gpu})):
            row = self.thresholds.get(name)
            if row is not None and row.measured is not None:
                return name
        return None
