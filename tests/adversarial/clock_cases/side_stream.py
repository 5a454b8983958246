"""Returns before the work is done, which a thread goes on with; on a GPU a second stream would.

Seen in: KernelBench (work on a side stream that the timing did not wait for). Stopped by: the sketch of the output
arrives as the clock stops, and an output that was not there yet does not fit it.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.clock import FAST, attention

ATTACK = "side_stream"

THREAD = """
import threading


def flash_forward(q, k, v, causal=False, scale=None):
    out, lse = torch.zeros_like(q), torch.zeros(q.shape[:-1])

    def work():
        found = slow(_fast_forward, q, k, v, causal, scale)
        out.copy_(found[0])
        lse.copy_(found[1])

    threading.Thread(target=work).start()
    return out, lse
"""

VARIANTS = [
    Variant("thread", attention(THREAD), Expected(("failed",), 0.0, "timed call"), FAST, 12.0),
]
