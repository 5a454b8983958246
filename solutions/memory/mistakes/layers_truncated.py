"""The layers are truncated instead of rounded."""

import math

from specs import ModelShape

EXERCISE = "shape_from_parameter_count"
HINT = "Your layers are cut off, not rounded: 32.9 layers are nearer to 33 than to 32."
FAILS = (
    "test_seven_billion_is_33_layers_and_gpt3_has_its_own_shape",
    "test_layers_are_rounded_to_the_nearest",
    "test_even_the_smallest_model_has_a_layer",
    "test_any_parameter_count",
)


def shape_from_parameter_count(n: int) -> ModelShape:
    layers = max(1, int(math.cbrt(n / (12 * 128**2)) + 1e-9))
    return ModelShape(layers=layers, hidden=128 * layers)
