"""A step is taken as lost when it is at most 2^-8, whatever the weight."""

EXERCISE = "bf16_update_lost"
HINT = "You compare the step with one number for all weights. How far apart are neighbours near 256?"
FAILS = (
    "test_the_gap_depends_on_the_power_of_two_that_the_weight_lies_above",
    "test_a_step_of_exactly_half_the_gap_goes_to_the_even_neighbour",
    "test_below_a_power_of_two_the_gap_is_half_as_wide",
    "test_weights_of_any_size_and_sign",
    "test_ties_and_powers_of_two",
)


def bf16_update_lost(weight: float, update: float) -> bool:
    return abs(update) <= 2.0**-8
