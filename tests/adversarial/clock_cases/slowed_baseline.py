"""Slows the baseline down, so that it looks faster itself: children and threads that burn the machine's time.

Seen in: benchmarks that share a machine with what they measure. Stopped by: while the baseline is timed every process
of the submission is stopped, and what takes off from its times is measured in the baseline's process.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "slowed_baseline"

CHILDREN = """
import os

_children = []


def flash_forward(q, k, v, causal=False, scale=None):
    if not _children:
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                while True:
                    pass
            _children.append(pid)
    return slow(_fast_forward, q, k, v, causal, scale)
"""

VARIANTS = [
    Variant("children", attention(CHILDREN), Expected(("failed",), 0.0, "times the baseline"), FAST, 12.0),
]
