"""What is honest and unusual under a clock: strided outputs, joined threads, workspaces cached by shape, noise.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, SOLUTION, attention

HONEST = "honest_on_the_clock"

STRIDED_OUTPUT = """
_dense = flash_forward


def flash_forward(q, k, v, causal=False, scale=None):
    out, lse = _dense(q, k, v, causal, scale)
    wide = torch.empty(*out.shape[:-1], 2 * out.shape[-1])
    wide[..., ::2] = out
    return wide[..., ::2], lse
"""

JOINED_THREAD = """
import threading

_alone = flash_forward


def flash_forward(q, k, v, causal=False, scale=None):
    found = []
    thread = threading.Thread(target=lambda: found.append(_alone(q, k, v, causal, scale)))
    thread.start()
    thread.join()
    return found[0]
"""

WORKSPACE_BY_SHAPE = """
_without = flash_forward
_workspaces = {}


def flash_forward(q, k, v, causal=False, scale=None):
    space = _workspaces.setdefault(tuple(q.shape), torch.empty(q.shape))
    out, lse = _without(q, k, v, causal, scale)
    space.copy_(out)
    print("a noisy line on the way")
    return space, lse
"""

VARIANTS = [
    Variant("strided_output", attention(STRIDED_OUTPUT, SOLUTION), Expected(("passed",), 12.0), FAST, 12.0),
    Variant("joined_thread", attention(JOINED_THREAD, SOLUTION), Expected(("passed",), 12.0), FAST, 12.0),
    Variant("workspace_by_shape", attention(WORKSPACE_BY_SHAPE, SOLUTION), Expected(("passed",), 12.0), FAST, 12.0),
]
