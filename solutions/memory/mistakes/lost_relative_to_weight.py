"""A step is taken as lost when it is at most 2^-8 of the weight, wherever the weight lies."""

EXERCISE = "bf16_update_lost"
HINT = (
    "You compare with a fixed fraction of the weight. The gap is the same from one power of two to the "
    "next, and then doubles."
)
FAILS = (
    "test_near_1_a_step_below_half_of_2_to_the_minus_7_is_lost",
    "test_the_gap_depends_on_the_power_of_two_that_the_weight_lies_above",
    "test_a_step_of_exactly_half_the_gap_goes_to_the_even_neighbour",
    "test_below_a_power_of_two_the_gap_is_half_as_wide",
    "test_the_sum_is_rounded_once",
    "test_ties_and_powers_of_two",
)


def bf16_update_lost(weight: float, update: float) -> bool:
    return abs(update) <= abs(weight) * 2.0**-8
