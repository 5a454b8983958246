"""Says done and goes on: the clock stops, the work begins.

Seen in: attacks on harnesses whose timed process reports its own end. Stopped by: an early sketch is a wrong one, and
an answer that nobody asked for is evidence of tampering.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "early_done"

LAZY_SKETCH = """
import sys

_timed = next(module for name, module in list(sys.modules.items()) if name.endswith("_worker.timed"))
_windows = next(module for name, module in list(sys.modules.items()) if name.endswith("_worker.windows"))
_sketch, _captured = _windows.sketch, _timed.Desk.captured
_pending = []


class _Later(tuple):
    pass


def flash_forward(q, k, v, causal=False, scale=None):
    _pending[:] = [(q, k, v, causal, scale)]
    return torch.zeros_like(q), torch.zeros(q.shape[:-1])


def _compute_and_capture(desk):
    if _pending:
        desk._value = slow(_fast_forward, *_pending.pop())
    return _captured(desk)


_timed.Desk.captured = _compute_and_capture
"""

FORGED_ANSWER = """
import sys


def _serving():
    frame = sys._getframe()
    while frame is not None and "wire_socket" not in frame.f_locals:
        frame = frame.f_back
    return frame


def flash_forward(q, k, v, causal=False, scale=None):
    frame = _serving()
    if frame is not None:
        wire = sys.modules["_rooflab_worker.wire"]
        value, sent = wire.encode(({"sketch": torch.zeros(16), "ops": []}, b""))
        answer = {"id": frame.f_locals["request"]["id"], "kind": "recorded", "value": value, "needs_gpu": ""}
        wire.send_frame(frame.f_locals["wire_socket"], answer, sent)
    return slow(_fast_forward, q, k, v, causal, scale)
"""

VARIANTS = [
    Variant("lazy_sketch", attention(LAZY_SKETCH), Expected(("failed",), 0.0, "changed after the call had returned"), FAST, 12.0),
    Variant("forged_answer", attention(FORGED_ANSWER), Expected(("integrity",), 0.0, "what no honest code sends"), FAST, 12.0),
]
