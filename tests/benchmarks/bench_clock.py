"""Who earns what near the full-credit threshold: a thousand simulated gradings a row, printed as a table.

`bench_clock.py [GRADINGS]`. No GPU is timed: it measures the judge, on simulated cards whose truth is known. Decides
nothing.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from grader.clock.simulated import Truth  # noqa: E402  # found by the line above
from specs.timing import Threshold  # noqa: E402  # the same
from tests.clock.worlds import CURVE, LOCKED, ROUGH, SHAPES, graded  # noqa: E402  # the same

SETTINGS = (
    ("locked", LOCKED, CURVE),
    ("rough", ROUGH, CURVE),
    ("noisy", {**ROUGH, "noise": 0.06}, CURVE),
    ("locked", LOCKED, Threshold(full_ratio=1.05, zero_ratio=1.4, provenance="made up")),
    ("locked", LOCKED, Threshold(full_ratio=1.0, zero_ratio=10.0, provenance="made up")),
)
WELL_INSIDE = 0.8
# Each the worst case of its claim: every shape may lose the points, and one alone must hold the marks back.
PLACES = (
    ("5 % inside", 0.95, 0.95),
    ("exactly at it", 1.0, 1.0),
    ("5 % outside", WELL_INSIDE, 1.05),
)


def row(name: str, world: dict, curve: Threshold, place: str, rest: float, one: float, gradings: int) -> str:
    """A line of the table: seeds 0 to `gradings` − 1."""
    truth = Truth(ratio=rest * curve.full_ratio, ratios={SHAPES[1].label: one * curve.full_ratio}, **world)
    verdicts = [graded(truth, seed, SHAPES, curve) for seed in range(gradings)]
    shares = np.array([verdict.share for verdict in verdicts if verdict.share is not None])
    held_s = np.array([verdict.device_s for verdict in verdicts])
    slowest = [max(shape.ratio or 0.0 for shape in verdict.shapes) for verdict in verdicts]
    by_estimate = sum(ratio > curve.full_ratio for ratio in slowest)
    true = curve.share(max(rest, one) * curve.full_ratio)
    # The share of the exact threshold is 1 but for rounding.
    held = [each.interval.low - 1e-9 <= true <= each.interval.high + 1e-9 for each in verdicts]
    spread = " ".join(f"{each:.3f}" for each in np.quantile(shares, (0, 0.05, 0.5, 0.95, 1)))
    cells = (
        f"{name}, {curve.full_ratio:g} to {curve.zero_ratio:g}",
        place,
        f"{gradings - len(shares)}",
        f"{(shares < 1).sum()}",
        f"{(shares == 1).sum()}",
        f"{by_estimate}",
        f"{gradings - sum(held)}",
        spread,
        f"{np.median(held_s):.1f} s, {held_s.max():.1f} s",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    gradings = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(
        "| card, curve | submission | pending | lose points | full marks | would lose by the estimate | ",
        end="",
    )
    print("interval misses | share: least, 5 %, median, 95 %, most | GPU held: median, most |")
    print("| --- " * 9 + "|")
    for name, world, curve in SETTINGS:
        for place, rest, one in PLACES:
            print(row(name, world, curve, place, rest, one, gradings), flush=True)


if __name__ == "__main__":
    main()
