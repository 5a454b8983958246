"""Returns numbers that break arithmetic in a checker: integers of thousands of digits, huge floats, subnormal ones.

Seen: a checker that died of OverflowError in its own message left the points undecided.
Stopped by: messages and comparisons take any number that crosses the wire; a wrong answer stays the student's.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "odd_numbers"


def weights(name: str, value: str, says: str = "weights") -> Variant:
    return Variant(
        name,
        state(answer=f"{{'weights': {value}, 'gradients': 2, 'master': 4, 'moments': 8}}"),
        Expected(says=says),
    )


VARIANTS = (
    weights("huge_int", "10 ** 3990"),
    weights("int_beyond_float", "-(2 ** 1024)"),
    weights("int_too_long_to_send", "10 ** 5000", "cannot be sent"),
    weights("huge_float", "1.7e308"),
    weights("subnormal", "5e-324"),
    weights("nan", "float('nan')"),
)
