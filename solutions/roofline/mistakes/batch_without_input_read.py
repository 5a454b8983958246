"""The activations that the layer reads are not counted."""

from specs import DType, Gpu

from ..roofline import critical_batch as right

EXERCISE = "critical_batch"
HINT = "A token's input is read from memory as well: B · inputs activations."
FAILS = (
    "test_the_activations_of_a_narrow_layer_count",
    "test_a_layer_may_be_too_narrow_to_cross_at_all",
    "test_any_layer",
)


def critical_batch(
    gpu: Gpu, compute: DType, weights: DType, inputs: int | None = None, outputs: int | None = None
) -> float:
    if inputs is None:
        return right(gpu, compute, weights)
    # The bytes per weight of the activations are 1/outputs for the input and 1/inputs for the output: keep the output's only.
    return right(gpu, compute, weights, 2 * inputs, 2 * inputs)
