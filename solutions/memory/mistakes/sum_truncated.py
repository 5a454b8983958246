"""The sum is cut off towards zero and not rounded."""

from fractions import Fraction

EXERCISE = "bf16_update_lost"
HINT = "You drop the low bits of the sum. The nearest bf16 number may be the next one away from zero."
FAILS = (
    "test_near_1_a_step_below_half_of_2_to_the_minus_7_is_lost",
    "test_the_gap_depends_on_the_power_of_two_that_the_weight_lies_above",
    "test_a_step_of_exactly_half_the_gap_goes_to_the_even_neighbour",
    "test_below_a_power_of_two_the_gap_is_half_as_wide",
    "test_the_sum_is_rounded_once",
    "test_weights_of_any_size_and_sign",
    "test_ties_and_powers_of_two",
)


def bf16_update_lost(weight: float, update: float) -> bool:
    exact = Fraction(weight) + Fraction(update)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    gap = Fraction(2) ** (max(exponent, -126) - 7)
    return int(exact / gap) * gap == weight
