"""Honest: right tensors that are views, transposed, without gradients, made with numpy, in place, under autocast.

Seen: graders that compared strides, or refused what was not contiguous.
Passes because: a tensor crosses as dtype, size, stride, offset and storage, and its elements are compared.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.softmax import SAFE, softmaxed

HONEST = "honest_tensors"


def full(name, call, top=""):
    return Variant(name, softmaxed(call, top), Expected(("passed",), 5), SAFE, takes_s=6)


PADDED = "wide = torch.full((*x.shape[:-1], x.shape[-1] + 3), -1.0, dtype=x.dtype)\nwide[..., 1:-2] = right(x)\nreturn wide[..., 1:-2]"

VARIANTS = (
    full("view", PADDED),
    full("transposed", "return right(x).transpose(0, -1).contiguous().transpose(0, -1)"),
    full("in_place", "out = right(x)\nx.zero_()\nreturn out"),
    full("parameter", "return torch.nn.Parameter(right(x), requires_grad=False)"),
    full("jit_and_caches", "if 'seen' not in CACHE:\n    CACHE['seen'] = x.shape\nreturn right(x)", "CACHE = {}\n"),
)
