"""Does all the work in the first timed call, or before any: what the pools hold is in its memory.

Seen in: pygpubench (batch_skip). Stopped by: which window a call is about is told as its clock starts.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "batch_skip"

FIRST_CALL = """
_first = []


def flash_forward(q, k, v, causal=False, scale=None):
    if not _first or _first[0][0].shape != q.shape:
        _first[:] = [slow(_fast_forward, q, k, v, causal, scale)]
    return _first[0]
"""

GUESSES_WINDOWS = """
import gc

_known = {}


def _guess(q, k, v, causal, scale):
    desk = next(each for each in gc.get_objects() if type(each).__name__ == "Desk")
    pools = desk._pools
    for start in range(0, 64 * 64, 64):
        parts = [
            pools[f"{role}.fp32"][start : start + each.numel()].view(each.shape)
            for role, each in (("q", q), ("k", k), ("v", v))
        ]
        _known[tuple(each.data_ptr() for each in parts)] = _fast_forward(*parts, causal, scale)


def flash_forward(q, k, v, causal=False, scale=None):
    if not _known:
        _guess(q, k, v, causal, scale)
    found = _known.get((q.data_ptr(), k.data_ptr(), v.data_ptr()))
    return found or slow(_fast_forward, q, k, v, causal, scale)
"""

VARIANTS = [
    Variant("first_call", attention(FIRST_CALL), Expected(("failed",), 0.0, "timed call"), FAST, 12.0),
    Variant("guesses_windows", attention(GUESSES_WINDOWS), Expected(("failed",), 0.0, "times the baseline"), FAST, 12.0),
]
