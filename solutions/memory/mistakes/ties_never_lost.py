"""A step of exactly half the gap is never taken as lost."""

from fractions import Fraction

EXERCISE = "bf16_update_lost"
HINT = "Halfway between two neighbours the weight wins sometimes: it depends on its last bit."
FAILS = (
    "test_a_step_of_exactly_half_the_gap_goes_to_the_even_neighbour",
    "test_ties_and_powers_of_two",
    "test_zero_no_step_and_the_smallest_numbers",
)


def bf16_update_lost(weight: float, update: float) -> bool:
    exact = Fraction(weight) + Fraction(update)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    gap = Fraction(2) ** (max(exponent, -126) - 7)
    nearest = round(exact / gap) * gap
    return nearest == weight and abs(exact - nearest) < gap / 2
