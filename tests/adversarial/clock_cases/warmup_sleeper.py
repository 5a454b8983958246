"""Behaves well while it is warmed up and worse once the timing starts.

Seen in: pygpubench (warmup_sleeper). Stopped by: a warm-up call is a timed call like any other, and every output is
compared.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "warmup_sleeper"

ZEROS_LATER = """
_calls = []


def flash_forward(q, k, v, causal=False, scale=None):
    _calls.append(1)
    if len(_calls) > 6:
        return torch.zeros_like(q), torch.zeros(q.shape[:-1])
    return _fast_forward(q, k, v, causal, scale)
"""

WRONG_ONCE = """
_calls = []


def flash_forward(q, k, v, causal=False, scale=None):
    _calls.append(1)
    out, lse = _fast_forward(q, k, v, causal, scale)
    if len(_calls) == 23:
        out[0, 1, 70:90] *= 1.5
    return out, lse
"""

NAN_ONCE = """
_calls = []


def flash_forward(q, k, v, causal=False, scale=None):
    _calls.append(1)
    out, lse = _fast_forward(q, k, v, causal, scale)
    if len(_calls) == 9:
        lse[0, 0, 3] = math.nan
    return out, lse
"""

VARIANTS = [
    Variant("zeros_later", attention(ZEROS_LATER), Expected(("failed",), 0.0, "timed call"), FAST, 12.0),
    Variant("wrong_once", attention(WRONG_ONCE), Expected(("failed",), 0.0, "timed call 23"), FAST, 12.0),
    Variant("nan_once", attention(NAN_ONCE), Expected(("failed",), 0.0, "timed call 9"), FAST, 12.0),
]
