"""Returns objects that equal everything, or that speak for themselves in other ways: subclasses with overrides.

Seen: graders that compare `got == expected` on the tested code's own object; unittest.mock.ANY.
Stopped by: the wire carries plain data, read with the plain type's own methods; what arrives is a plain value of
the judge's, and the judge compares.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "eq_true"
LOST = "memory.bf16_update_lost"

LIARS = """
from specs import StateBytes
def yes(*args, **kwargs):
    return True
LIES = {name: yes for name in ("__eq__", "__le__", "__ge__", "__bool__", "__contains__")}
LIES |= {"__ne__": lambda *a: False, "__hash__": lambda self: 0, "__sub__": lambda *a: 0, "__rsub__": lambda *a: 0}
Anything = type("Anything", (), dict(LIES, __getattr__=lambda self, name: self))
Masked = type("Masked", (), dict(LIES, __class__=property(lambda self: StateBytes)))
Bytes = type("StateBytes", (StateBytes,), {"__eq__": yes})
Int = type("Int", (int,), dict(LIES, __index__=lambda s: 4, __int__=lambda s: 4, bit_length=lambda s: 1))
Float = type("Float", (float,), dict(LIES, __float__=lambda s: 4.0, is_integer=yes))
Str = type("Str", (str,), LIES)
class Dict(dict):
    def get(self, name, default=None): return Anything()
    def items(self): return [("weights", 2), ("gradients", 2), ("master", 4), ("moments", 8)]
    __getitem__ = get
    keys = __iter__ = lambda self: iter(("weights", "gradients", "master", "moments"))
def terms(weights):
    return dict(weights=weights, gradients=2, master=4, moments=8)
"""


def liar(name: str, answer: str, says: str = "", top: str = "") -> Variant:
    return Variant(name, state(top=LIARS + top, answer=answer), Expected(says=says))


VARIANTS = (
    liar("anything", "Anything()", "an Anything cannot be sent"),
    liar("masked_class", "Masked()", "a Masked cannot be sent"),
    liar("own_state_bytes", "Bytes(weights=0, gradients=2, master=4, moments=8)", "StateBytes of your own"),
    liar("int", "terms(Int(0))", "weights"),
    liar("float", "terms(Float(0))", "weights"),
    liar("str", "terms(Str('4'))", "weights: a number is needed"),
    liar("dict", "Dict(weights=0, gradients=2, master=4, moments=8)", "weights"),
    liar("patched_eq", "wrong(recipe)", "", "StateBytes.__eq__ = yes\nStateBytes.model_dump = yes"),
    Variant(
        "bool_wildcard",
        state(top=LIARS + "def bf16_update_lost(weight, update):\n    return Anything()"),
        Expected(says="cannot be sent"),
        LOST,
    ),
    Variant(
        "bool_as_int",
        state(top=LIARS + "def bf16_update_lost(weight, update):\n    return Int(1)"),
        Expected(says="True or False is needed"),
        LOST,
    ),
)
