"""Returns a tensor that computes when it is looked at, equals everything, or is none: subclasses, meta and fake tensors.

Seen: a subclass whose `__torch_function__` made every comparison true; a lazy tensor computed outside of the clock.
Stopped by: what crosses are the bytes of a plain tensor, read in the worker before the call counts as done; other kinds
do not cross.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.softmax import SAFE, softmaxed

ATTACK = "tensor_subclass"

SUBCLASS = """
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("allclose", "equal", "eq", "isclose"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})
    def float(self): return right(self.x)
    def to(self, *a, **k): return right(self.x)
    def __eq__(self, other): return True
    def numpy(self): return right(self.x).numpy()
"""
LAZY = """
class Lazy:
    def __init__(self, x): self.x = x
    def __getattr__(self, name): return getattr(right(self.x), name)
    def __array__(self, *a, **k): return right(self.x).numpy()
"""
INSTANCE = """
out = torch.zeros_like(x)
out.float = lambda *a: right(x)
out.to = lambda *a, **k: right(x)
out.data_ptr = lambda: right(x).data_ptr()
return out
"""


def variant(name, call, says, top=""):
    return Variant(name, softmaxed(call, top), Expected(says=says), SAFE, takes_s=6)


VARIANTS = (
    variant("subclass", "out = torch.zeros_like(x).as_subclass(Liar)\nout.x = x\nreturn out", "", SUBCLASS),
    variant("lazy", "return Lazy(x)", "a Lazy cannot be sent", LAZY),
    variant("instance", INSTANCE, ""),
    variant("meta", "return torch.empty_like(x, device='meta')", "cannot be sent"),
    variant("sparse", "return right(x).to_sparse()", "cannot be sent"),
    variant("stride_zero", "return right(x)[..., :1].expand(x.shape)", "off by"),
)
