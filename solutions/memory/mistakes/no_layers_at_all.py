"""A small count is rounded down to no layer at all."""

import math

from specs import ModelShape

EXERCISE = "shape_from_parameter_count"
HINT = "A model with 0 layers and width 0 is no model: the docstring says what the least is."
FAILS = (
    "test_even_the_smallest_model_has_a_layer",
    "test_counts_at_either_end",
)


def shape_from_parameter_count(n: int) -> ModelShape:
    layers = round(math.cbrt(n / (12 * 128**2)))
    return ModelShape(layers=layers, hidden=128 * layers)
