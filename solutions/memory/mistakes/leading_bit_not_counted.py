"""bf16 is taken to have 7 significant bits in all, the leading 1 included."""

from fractions import Fraction

EXERCISE = "bf16_update_lost"
HINT = (
    "Your numbers are twice as far apart as they are. bf16 stores 7 bits behind the leading 1, which is "
    "not stored."
)
FAILS = (
    "test_near_1_a_step_below_half_of_2_to_the_minus_7_is_lost",
    "test_the_gap_depends_on_the_power_of_two_that_the_weight_lies_above",
    "test_below_a_power_of_two_the_gap_is_half_as_wide",
    "test_the_sum_is_rounded_once",
    "test_weights_of_any_size_and_sign",
    "test_ties_and_powers_of_two",
)


def _rounded(value: Fraction, significant_bits: int, smallest_exponent: int) -> Fraction:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    step = Fraction(2) ** (max(exponent, smallest_exponent) - significant_bits + 1)
    return round(value / step) * step


def bf16_update_lost(weight: float, update: float) -> bool:
    return _rounded(Fraction(weight) + Fraction(update), 7, -126) == weight
