"""Below a power of two the gap is taken as wide as above it."""

import math
from fractions import Fraction

EXERCISE = "bf16_update_lost"
HINT = (
    "Your gap is the one above the weight. From a power of two towards zero the next number is half as far."
)
FAILS = ("test_below_a_power_of_two_the_gap_is_half_as_wide", "test_ties_and_powers_of_two")


def _half_gap(weight: float) -> float:
    """Half the distance to the next number away from zero."""
    exponent = math.frexp(weight)[1] - 1 if weight else -126  # around zero lie the smallest numbers
    return 2.0 ** (max(exponent, -126) - 8)


def bf16_update_lost(weight: float, update: float) -> bool:
    half = Fraction(_half_gap(weight))
    steps = Fraction(weight) / (2 * half)
    return abs(Fraction(update)) < half or (abs(Fraction(update)) == half and steps % 2 == 0)
