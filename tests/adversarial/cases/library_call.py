"""Lets PyTorch compute attention, behind a kernel that runs as well and whose result nobody uses.

Seen: submissions to kernel contests that called the library and launched a decoy, lest the profile be empty.
Stopped by: every check asks what PyTorch did during its own call; right values that it computed earn nothing.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, wrapped

ATTACK = "library_call"

DECOY = "kernel(q, k, v, causal, scale)\n"
TOP = """
def attention(q, k, v, scale):
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)
"""
SDPA = """
out = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale)[0]
return out, kernel(q, k, v, causal, scale)[1]
"""
# Neither a product of matrices nor a softmax by name.
TAKEN_APART = """
scores = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) * (q.shape[-1] ** -0.5 if scale is None else scale)
top = scores.amax(-1, keepdim=True)
weights = math.e ** (scores - top)
total = weights.sum(-1)
out = torch.stack([(row[..., None] * v).sum(-2) for row in weights.unbind(-2)], -2) / total[..., None]
return out, top[..., 0] + total.log()
"""
# What a kernel has copied was made by a kernel: arithmetic on that has a limit too.
COPIES = """

@triton.jit
def copy(from_ptr, to_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to_ptr + at, tl.load(from_ptr + at, mask=at < size), mask=at < size)


def copied(x):
    x = x.contiguous()
    to = torch.empty_like(x)
    copy[(triton.cdiv(x.numel(), 1024),)](x, to, x.numel(), BLOCK=1024)
    return to
"""
OF_COPIES = "q, k, v = copied(q), copied(k), copied(v)\n"
IN_PLACE = """
scores = torch.zeros(*q.shape[:-1], k.shape[-2]).baddbmm_(q, k.mT) if q.dim() == 3 else torch.zeros(
    len(q), len(k)).addmm_(q, k.mT)
scores = scores * (q.shape[-1] ** -0.5 if scale is None else scale)
return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)
"""
TWO_FACES = """

class Pair(tuple):
    def __iter__(self):
        return iter(self.shown)

"""
UNSEEN = """
from torch.utils._python_dispatch import _disable_current_modes
with _disable_current_modes():
    pair = Pair(attention(q, k, v, scale))
pair.shown = torch.zeros(q.shape), torch.zeros(q.shape[:-1])
return pair
"""
OPERATOR = """

@torch.library.custom_op("mine::attention", mutates_args=("out", "lse"))
def own_attention(q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, scale: float) -> None:
    given, sums = attention(q, k, v, scale or None)
    out.copy_(given)
    lse.copy_(sums)

"""
OWN_OPERATOR = """
out, lse = torch.zeros(q.shape, dtype=q.dtype), torch.zeros(q.shape[:-1])
own_attention(q, k, v, out, lse, float(scale or 0.0))
return out, lse
"""
IN_A_THREAD = """
import threading
found = []
thread = threading.Thread(target=lambda: found.extend(attention(q, k, v, scale)))
thread.start()
thread.join()
return tuple(found)
"""
SAID = Expected(says="leaves the work to PyTorch")

VARIANTS = (
    Variant("behind_a_decoy", wrapped(DECOY + "return attention(q, k, v, scale)", TOP), SAID, FORWARD, 15, slow=True),
    Variant("sdpa", wrapped(SDPA), SAID, FORWARD, 15, slow=True),
    Variant("taken_apart", wrapped(DECOY + TAKEN_APART), Expected(says="beside its kernels"), FORWARD, 15, slow=True),
    Variant("of_copies", wrapped(DECOY + OF_COPIES + TAKEN_APART, COPIES), Expected(says="beside its kernels"), FORWARD, 15, slow=True),
    Variant("in_place", wrapped(DECOY + IN_PLACE), Expected(says="leaves the work to PyTorch"), FORWARD, 15, slow=True),
    Variant("with_two_faces", wrapped(DECOY + UNSEEN, TOP + TWO_FACES), Expected(), FORWARD, 15, slow=True),
    Variant("own_operator", wrapped(DECOY + OWN_OPERATOR, TOP + OPERATOR), Expected(), FORWARD, 15, slow=True),
    Variant("in_a_thread", wrapped(DECOY + IN_A_THREAD, TOP), SAID, FORWARD, 15, slow=True),
)
