"""Simulated cards and gradings on them, shared by the tests of the clock and its benchmark."""

import random

from grader.clock.device import Throttle
from grader.clock.grading import Plan, grade
from grader.clock.simulated import Episode, SimulatedDevice, Truth
from grader.clock.verdict import TimingVerdict
from specs.assignment import assignment
from specs.gpu import gpu
from specs.timing import Threshold

H100 = gpu("h100-sxm")
PERFORMANCE = assignment("flash_attention").exercise("performance").timing
SHAPES = PERFORMANCE.shapes if PERFORMANCE else ()
CURVE = Threshold(full_ratio=1.1, zero_ratio=2.0, provenance="made up for simulations; nobody measured it")
LOCKED = {"noise": 0.01}
"""A card whose clocks are locked and that nobody else is on."""
ROUGH = {
    "noise": 0.03,
    "drift_per_s": 0.002,
    "wander": 0.005,
    "outliers": 0.02,
    "episodes": (Episode(0.8, 1.3, baseline=1.4, submission=1.6, throttle=Throttle.POWER_CAP),),
}
"""Three times the noise, clocks that drift and wander, slow calls, and half a second of throttling in mid-run."""


def graded(truth, seed=0, shapes=SHAPES, curve=CURVE, attempt=1, plan=None) -> TimingVerdict:
    """One grading of a simulated card; the same arguments give the same verdict."""
    device = SimulatedDevice(truth, seed)
    order = random.Random(seed)
    return grade(device, H100, shapes, curve, attempt=attempt, plan=plan, order=order)


__all__ = [
    "CURVE",
    "H100",
    "LOCKED",
    "ROUGH",
    "SHAPES",
    "Episode",
    "Plan",
    "Threshold",
    "Throttle",
    "Truth",
    "graded",
]
