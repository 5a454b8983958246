"""A layer has 4·d² parameters, the attention alone."""

import math

from specs import ModelShape

EXERCISE = "shape_from_parameter_count"
HINT = "You have 4·d² in a layer, which is the attention alone: the MLP has 8·d² more."
FAILS = (
    "test_seven_billion_is_33_layers_and_gpt3_has_its_own_shape",
    "test_layers_are_rounded_to_the_nearest",
    "test_a_count_made_from_a_shape_gives_the_shape_back",
    "test_any_parameter_count",
)


def shape_from_parameter_count(n: int) -> ModelShape:
    layers = max(1, round(math.cbrt(n / (4 * 128**2))))
    return ModelShape(layers=layers, hidden=128 * layers)
