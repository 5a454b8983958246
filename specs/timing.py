"""What a performance exercise is timed on, and how a time becomes points: shapes, baseline, curve, thresholds."""

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from specs.dtypes import DType
from specs.model import Count
from specs.schema import Spec


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


class Threshold(Spec):
    """The curve of one GPU: the ratio of a submission's time to the baseline's, mapped to a share of the points."""

    full_ratio: float = Field(gt=0)
    """At this ratio and below all points are earned."""
    zero_ratio: float = Field(gt=0)
    """At this ratio and above none are; the share falls with the logarithm of the ratio in between."""
    provenance: str = Field(min_length=1)
    """On which machine and when it was measured, and what the baseline, the solution and a naive kernel took."""

    @property
    def measured(self) -> bool:
        """Whether somebody measured on such a card."""
        return self.provenance != "unmeasured"

    @model_validator(mode="after")
    def _falls(self) -> Self:
        if self.zero_ratio <= self.full_ratio:
            raise ValueError(f"zero_ratio {self.zero_ratio} must be above full_ratio {self.full_ratio}")
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
    """By name of a GPU in specs/gpus.yaml. On a GPU without one, the points stay pending."""
