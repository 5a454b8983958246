"""Patches CUDA's events and waits, so that nothing seems to take time; the GPU's form of `timer_patch`.

Stopped by: the clock is the judge's, and a sketch of the output has to arrive before it stops.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.gpu import FAST, kernels

ATTACK = "cuda_clock_patch"

EVENTS = """
import torch

torch.cuda.synchronize = lambda *args: None
torch.cuda.Event.elapsed_time = lambda self, other: 1e-6
torch.cuda.Stream.synchronize = lambda self: None
"""

VARIANTS = [
    Variant("events", kernels(EVENTS), Expected(("failed",), 0.0, "times the baseline"), FAST, 60.0),
]
