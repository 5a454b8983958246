"""Honest: right numbers of other types: numpy scalars, Fractions made float, bools made int, arrays of one element.

Seen: checkers that want `type(x) is float`.
Passes because: a number is a number; what is compared is its value.
"""

from tests.adversarial.case import Expected, Variant, state

HONEST = "honest_numbers"

FULL = Expected(("passed",), 10)
TOP = "import numpy as np\nfrom fractions import Fraction\nNAMES = ('weights', 'gradients', 'master', 'moments')\n"


def numbers(name, each):
    return Variant(name, state(TOP, answer=f"{{name: {each} for name in NAMES}}"), FULL)


VARIANTS = (
    numbers("numpy_float64", "np.float64(getattr(right(recipe), name))"),
    numbers("numpy_float32", "np.float32(getattr(right(recipe), name))"),
    numbers("from_fractions", "float(Fraction(getattr(right(recipe), name)))"),
    numbers("sums", "sum([getattr(right(recipe), name) / 4] * 4)"),
    Variant("model", state(TOP, answer="right(recipe).model_copy()"), FULL),
)
