"""Activations are taken to be as narrow as the weights."""

import math

from specs import DTYPE_BYTES, DType, Gpu

from ..roofline import ridge_point

EXERCISE = "critical_batch"
HINT = "Only the weights are stored in the narrow format. In which format are the activations?"
FAILS = (
    "test_the_activations_of_a_narrow_layer_count",
    "test_a_layer_may_be_too_narrow_to_cross_at_all",
    "test_any_layer",
)


def critical_batch(
    gpu: Gpu, compute: DType, weights: DType, inputs: int | None = None, outputs: int | None = None
) -> float:
    ridge, size = ridge_point(gpu, compute), DTYPE_BYTES[weights]
    gained = 2 - ridge * size * (1 / inputs + 1 / outputs) if inputs and outputs else 2
    return ridge * size / gained if gained > 0 else math.inf
