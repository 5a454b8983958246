"""A step shorter than the whole gap is taken as lost, not than half of it."""

import math

EXERCISE = "bf16_update_lost"
HINT = (
    "You lose every step shorter than the gap to the next number. Past the middle of the gap a sum rounds"
    " to it."
)
FAILS = (
    "test_near_1_a_step_below_half_of_2_to_the_minus_7_is_lost",
    "test_the_gap_depends_on_the_power_of_two_that_the_weight_lies_above",
    "test_a_step_of_exactly_half_the_gap_goes_to_the_even_neighbour",
    "test_below_a_power_of_two_the_gap_is_half_as_wide",
    "test_the_sum_is_rounded_once",
    "test_weights_of_any_size_and_sign",
    "test_ties_and_powers_of_two",
)


def _half_gap(weight: float) -> float:
    """Half the distance to the next number away from zero."""
    exponent = math.frexp(weight)[1] - 1 if weight else -126  # around zero lie the smallest numbers
    return 2.0 ** (max(exponent, -126) - 8)


def bf16_update_lost(weight: float, update: float) -> bool:
    return abs(update) < 2 * _half_gap(weight)
