"""The 128 of d is put into the rule once and not squared: L and d come out five times (∛128) too large."""

import math

from specs import ModelShape

EXERCISE = "shape_from_parameter_count"
HINT = "The 128 of d = 128·L is squared too when d is put into 12·L·d²."
FAILS = (
    "test_seven_billion_is_33_layers_and_gpt3_has_its_own_shape",
    "test_layers_are_rounded_to_the_nearest",
    "test_a_count_made_from_a_shape_gives_the_shape_back",
    "test_even_the_smallest_model_has_a_layer",
    "test_any_parameter_count",
    "test_counts_at_either_end",
)


def shape_from_parameter_count(n: int) -> ModelShape:
    layers = max(1, round(math.cbrt(n / (12 * 128))))
    return ModelShape(layers=layers, hidden=128 * layers)
