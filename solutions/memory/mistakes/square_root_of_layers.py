"""A square root where a cube root belongs."""

import math

from specs import ModelShape

EXERCISE = "shape_from_parameter_count"
HINT = "You took a square root. With d = 128·L put in, N = 12·L·d² holds L once by itself and twice in d²."
FAILS = (
    "test_seven_billion_is_33_layers_and_gpt3_has_its_own_shape",
    "test_layers_are_rounded_to_the_nearest",
    "test_a_count_made_from_a_shape_gives_the_shape_back",
    "test_any_parameter_count",
)


def shape_from_parameter_count(n: int) -> ModelShape:
    layers = max(1, round(math.sqrt(n / (12 * 128**2))))
    return ModelShape(layers=layers, hidden=128 * layers)
