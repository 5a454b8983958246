"""The layers are always rounded up."""

import math

from specs import ModelShape

EXERCISE = "shape_from_parameter_count"
HINT = "Your layers are always rounded up: 40.4 layers are nearer to 40 than to 41."
FAILS = (
    "test_seven_billion_is_33_layers_and_gpt3_has_its_own_shape",
    "test_layers_are_rounded_to_the_nearest",
    "test_any_parameter_count",
)


def shape_from_parameter_count(n: int) -> ModelShape:
    layers = math.ceil(math.cbrt(n / (12 * 128**2)) - 1e-9)
    return ModelShape(layers=layers, hidden=128 * layers)
