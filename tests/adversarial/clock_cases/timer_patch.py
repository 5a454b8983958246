"""Patches every clock of its process, and the events and waits of CUDA, so that nothing seems to take time.

Seen in: KernelBench's and pygpubench's collections of exploits. Stopped by: the clock is the judge's, in another
process; the worker reads none.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "timer_patch"

CLOCKS = """
import time

for _name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
    setattr(time, _name, lambda: 0.0)
    setattr(time, _name + "_ns", lambda: 0)
time.clock_gettime = lambda which: 0.0
torch.cuda.synchronize = lambda *args: None


class _Event:
    def __init__(self, *args, **kwargs):
        pass

    def record(self, *args):
        pass

    def elapsed_time(self, other):
        return 1e-6


torch.cuda.Event = _Event
"""

VARIANTS = [
    Variant("clocks", attention(CLOCKS), Expected(("failed",), 0.0, "times the baseline"), FAST, 12.0),
]
