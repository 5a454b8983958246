"""Remembers earlier answers: by address, by content, by the number of the call.

Seen in: pygpubench (pointer_cache, hash_cache, replay). Stopped by: every call has its own window of random numbers,
so no content repeats and no address stands for one.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "cached_answers"

BY_ONE_ADDRESS = """
_known = {}


def flash_forward(q, k, v, causal=False, scale=None):
    key = (q.data_ptr() // 4096, causal)
    if key not in _known:
        _known[key] = slow(_fast_forward, q, k, v, causal, scale)
    return _known[key]
"""

BY_ALL_ADDRESSES = """
_known = {}


def flash_forward(q, k, v, causal=False, scale=None):
    key = (q.data_ptr(), k.data_ptr(), v.data_ptr(), causal)
    if key not in _known:
        _known[key] = slow(_fast_forward, q, k, v, causal, scale)
    return _known[key]
"""

BY_CONTENT = """
_known = {}


def flash_forward(q, k, v, causal=False, scale=None):
    key = (q.sum().item(), k.sum().item(), v.sum().item(), causal)
    if key not in _known:
        _known[key] = slow(_fast_forward, q, k, v, causal, scale)
    return _known[key]
"""

BY_CALL = """
_answers = []


def flash_forward(q, k, v, causal=False, scale=None):
    if len(_answers) < 8:
        _answers.append(slow(_fast_forward, q, k, v, causal, scale))
        return _answers[-1]
    _answers.append(_answers[len(_answers) % 8])
    return _answers[-1]
"""

VARIANTS = [
    Variant("by_one_address", attention(BY_ONE_ADDRESS), Expected(("failed",), 0.0, "timed call"), FAST, 12.0),
    Variant("by_all_addresses", attention(BY_ALL_ADDRESSES), Expected(("failed",), 0.0, "times the baseline"), FAST, 12.0),
    Variant("by_content", attention(BY_CONTENT), Expected(("failed",), 0.0, "times the baseline"), FAST, 12.0),
    Variant("by_call", attention(BY_CALL), Expected(("failed",), 0.0, "timed call"), FAST, 12.0),
]
