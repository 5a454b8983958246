"""Returns what nobody asked for once it is timed: other kinds, formats, shapes, numbers of tensors; or raises, or dies.

Seen in: broken rather than hostile submissions. Each is named with its call, and none stops the run of another.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, SOLUTION, attention

ATTACK = "odd_outputs"

LIST_OF_FLOATS = """
def flash_forward(q, k, v, causal=False, scale=None):
    return [1.0, 2.0]
"""

ONE_TENSOR = """
def flash_forward(q, k, v, causal=False, scale=None):
    return torch.zeros_like(q)
"""

DOUBLE = """
_single = flash_forward


def flash_forward(q, k, v, causal=False, scale=None):
    out, lse = _single(q, k, v, causal, scale)
    return out.double(), lse
"""

TRANSPOSED = """
_straight = flash_forward


def flash_forward(q, k, v, causal=False, scale=None):
    out, lse = _straight(q, k, v, causal, scale)
    return out.mT, lse
"""

RAISES = """
def flash_forward(q, k, v, causal=False, scale=None):
    raise ValueError("not this size")
"""

DIES = """
import os


def flash_forward(q, k, v, causal=False, scale=None):
    os._exit(3)
"""

VARIANTS = [
    Variant("list_of_floats", attention(LIST_OF_FLOATS, SOLUTION), Expected(("failed",), 0.0, "returned no tensors"), FAST, 12.0),
    Variant("one_tensor", attention(ONE_TENSOR, SOLUTION), Expected(("failed",), 0.0, "not out, lse"), FAST, 12.0),
    Variant("double", attention(DOUBLE, SOLUTION), Expected(("failed",), 0.0, "float64"), FAST, 12.0),
    Variant("transposed", attention(TRANSPOSED, SOLUTION), Expected(("failed",), 0.0, "has shape"), FAST, 12.0),
    Variant("raises", attention(RAISES, SOLUTION), Expected(("failed",), 0.0, "in timed call 1"), FAST, 12.0),
    Variant("dies", attention(DIES, SOLUTION), Expected(("crashed",), 0.0, "in timed call 1"), FAST, 12.0),
]
