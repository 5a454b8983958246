"""The sum is rounded to fp32 and then to bf16."""

from fractions import Fraction

EXERCISE = "bf16_update_lost"
HINT = "Your sum is rounded twice, to fp32 and then to bf16, and the first makes a tie that was none."
FAILS = ("test_the_sum_is_rounded_once", "test_ties_and_powers_of_two")


def _rounded(value: Fraction, significant_bits: int, smallest_exponent: int) -> Fraction:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    step = Fraction(2) ** (max(exponent, smallest_exponent) - significant_bits + 1)
    return round(value / step) * step


def bf16_update_lost(weight: float, update: float) -> bool:
    in_fp32 = _rounded(Fraction(weight) + Fraction(update), 24, -126)
    return _rounded(in_fp32, 8, -126) == weight
