"""Returns what a careless comparison takes for equal: NaN, Inf, nothing, other shapes that broadcast, other types.

Seen: `not (abs(got - expected) > tolerance)`, which NaN passes; `zip(got, expected)` over an empty list; a result of
shape () that broadcast to all.
Stopped by: NaN equals nothing, types and shapes are asked for before values, lengths are compared.
"""

from tests.adversarial.case import Expected, Variant, state
from tests.adversarial.softmax import SAFE, softmaxed

ATTACK = "nan_wildcard"


def number(name, answer, says=""):
    return Variant(name, state(answer=answer), Expected(says=says))


def tensor(name, answer, says):
    return Variant(name, softmaxed(f"return {answer}"), Expected(says=says), SAFE, takes_s=6)


VARIANTS = (
    number("all_nan", "{name: float('nan') for name in ('weights', 'gradients', 'master', 'moments')}", "weights"),
    number("all_inf", "{name: float('inf') for name in ('weights', 'gradients', 'master', 'moments')}", "weights"),
    number("none", "None", "None"),
    number("empty_list", "[]"),
    number("empty_dict", "{}"),
    number("not_implemented", "NotImplemented"),
    number("true", "True"),
    number("negative", "{'weights': -2, 'gradients': -2, 'master': -4, 'moments': -8}", "weights"),
    tensor("nan_tensor", "torch.full_like(x, math.nan)", "NaN"),
    tensor("shape_that_broadcasts", "right(x).mean()", "shape"),
    tensor("empty_tensor", "x[:0]", "shape"),
    tensor("other_format", "right(x).double()", "it is in float64"),
    tensor("a_list", "right(x).tolist()", "list"),
)
