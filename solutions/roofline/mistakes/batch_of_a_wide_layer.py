"""The widths are ignored, and with them the activations' bytes."""

from specs import DType, Gpu

from ..roofline import critical_batch as right

EXERCISE = "critical_batch"
HINT = "inputs and outputs are given here: each token's own activations are read and written too."
FAILS = (
    "test_the_activations_of_a_narrow_layer_count",
    "test_a_layer_may_be_too_narrow_to_cross_at_all",
    "test_any_layer",
)


def critical_batch(
    gpu: Gpu, compute: DType, weights: DType, inputs: int | None = None, outputs: int | None = None
) -> float:
    return right(gpu, compute, weights)
