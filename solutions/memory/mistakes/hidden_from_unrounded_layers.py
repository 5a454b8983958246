"""The width follows from the layers before they were rounded."""

import math

from specs import ModelShape

EXERCISE = "shape_from_parameter_count"
HINT = "Your width is 128 times the layers before rounding: round L first, then take d from it."
FAILS = (
    "test_seven_billion_is_33_layers_and_gpt3_has_its_own_shape",
    "test_layers_are_rounded_to_the_nearest",
    "test_even_the_smallest_model_has_a_layer",
    "test_any_parameter_count",
)


def shape_from_parameter_count(n: int) -> ModelShape:
    exact = math.cbrt(n / (12 * 128**2))
    return ModelShape(layers=max(1, round(exact)), hidden=round(128 * exact))
