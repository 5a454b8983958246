"""The shapes that the bench times, and what each costs at least: FLOPs, exponentials, bytes, seconds.

FLOPs follow the convention of the FlashAttention papers: forward 4·B·H·T_q·T_k·D (two products, a multiply and an
add each), half of it under a causal mask, and backward 2.5 times that (five products), whatever a kernel really
computes. So TFLOP/s compare times, and a kernel that recomputes more does not look faster for it.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from specs.gpu import Gpu

Direction = Literal["forward", "backward"]

TOKENS = 16384
HIDDEN = 2048
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
WIDTHS = (64, 128, 256)
"""16k tokens and H·D = 2048, as in the benchmarks of FlashAttention-2 and 3 (section 4)."""

BYTES = 2
"""Of an element of bf16, in which everything is timed."""

CONVENTION = "FLOPs: 4·B·H·T_q·T_k·D forward, halved under a causal mask; backward 2.5 × forward; bf16"


class Case(NamedTuple):
    """One shape in one direction; as many K/V heads as query heads."""

    batch: int
    heads: int
    queries: int
    keys: int
    width: int
    causal: bool
    direction: Direction

    @property
    def label(self) -> str:
        """In one phrase, as the tables print it."""
        lengths = f"T {self.queries}" if self.queries == self.keys else f"T {self.queries} on {self.keys}"
        mask = "causal" if self.causal else "full"
        return f"{self.direction} {mask} D {self.width} {lengths} B {self.batch} H {self.heads}"

    @property
    def pairs(self) -> float:
        """Query-key pairs of a head that count: a causal mask of T × T leaves T²/2 by the convention."""
        if not self.causal:
            return self.queries * self.keys
        square = min(self.queries, self.keys)
        return square * (self.keys - square) + square**2 / 2

    @property
    def flops(self) -> float:
        """By the convention of the module."""
        forward = 4 * self.batch * self.heads * self.pairs * self.width
        return forward if self.direction == "forward" else 2.5 * forward

    @property
    def exps(self) -> float:
        """One exponential a pair; the backward recomputes it."""
        return self.batch * self.heads * self.pairs

    @property
    def compulsory_bytes(self) -> int:
        """Inputs read once and outputs written once: q, k, v, out, lse; backward also their gradients."""
        rows = self.batch * self.heads * self.queries
        columns = self.batch * self.heads * self.keys
        once = (2 * rows + 2 * columns) * self.width * BYTES + 4 * rows
        return once if self.direction == "forward" else 2 * once - 4 * rows


class SpeedOfLight(NamedTuple):
    """Seconds that one unit of a GPU needs at its peak; no kernel is faster than the largest."""

    tensor_s: float
    exp_s: float | None
    """On the special-function units; None: the GPU's rate is not known."""
    hbm_s: float

    @property
    def time_s(self) -> float:
        """The largest of the three."""
        return max(self.tensor_s, self.exp_s or 0.0, self.hbm_s)

    @property
    def limited_by(self) -> str:
        """The unit that needs it."""
        named = {"tensor": self.tensor_s, "exp": self.exp_s or 0.0, "HBM": self.hbm_s}
        return max(named, key=named.__getitem__)


def speed_of_light(case: Case, gpu: Gpu) -> SpeedOfLight:
    """The least time of a case by the GPU's data sheet.

    Kernels that compute some exponentials with multiply-adds (FlashAttention-4) can get below `exp_s`.

    Raises:
        SpecError: the GPU has no bf16 rate.
    """
    return SpeedOfLight(
        tensor_s=case.flops / gpu.peak_flops("bf16"),
        exp_s=case.exps / gpu.exps_per_s if gpu.exps_per_s else None,
        hbm_s=case.compulsory_bytes / gpu.hbm_bytes_per_s,
    )


def all_cases() -> Iterator[Case]:
    """The square shapes, both masks, both directions; then queries that continue a cache of 8k keys."""
    directions: tuple[Direction, ...] = ("forward", "backward")
    for direction in directions:
        for width in WIDTHS:
            for causal in (False, True):
                for length in LENGTHS:
                    yield Case(TOKENS // length, HIDDEN // width, length, length, width, causal, direction)
    for direction in directions:
        for width in WIDTHS:
            yield Case(2, HIDDEN // width, 1024, 8192, width, True, direction)
