"""bf16 is taken to have the 11 significant bits of fp16."""

from fractions import Fraction

EXERCISE = "bf16_update_lost"
HINT = "That is fp16, with 11 significant bits. bf16 gave bits of them away for range: how many are left?"
FAILS = (
    "test_near_1_a_step_below_half_of_2_to_the_minus_7_is_lost",
    "test_the_gap_depends_on_the_power_of_two_that_the_weight_lies_above",
    "test_a_step_of_exactly_half_the_gap_goes_to_the_even_neighbour",
    "test_below_a_power_of_two_the_gap_is_half_as_wide",
    "test_the_sum_is_rounded_once",
    "test_weights_of_any_size_and_sign",
    "test_ties_and_powers_of_two",
    "test_zero_no_step_and_the_smallest_numbers",
)


def _rounded(value: Fraction, significant_bits: int, smallest_exponent: int) -> Fraction:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    step = Fraction(2) ** (max(exponent, smallest_exponent) - significant_bits + 1)
    return round(value / step) * step


def bf16_update_lost(weight: float, update: float) -> bool:
    return _rounded(Fraction(weight) + Fraction(update), 11, -126) == weight
