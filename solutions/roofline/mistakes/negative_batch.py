"""The equation is solved even where its solution is negative."""

from specs import DTYPE_BYTES, DType, Gpu

from ..roofline import ridge_point

EXERCISE = "critical_batch"
HINT = (
    "A negative batch: here every token adds more time for its bytes than for its FLOPs. Does the layer "
    "ever cross?"
)
FAILS = ("test_a_layer_may_be_too_narrow_to_cross_at_all", "test_any_layer")


def critical_batch(
    gpu: Gpu, compute: DType, weights: DType, inputs: int | None = None, outputs: int | None = None
) -> float:
    ridge = ridge_point(gpu, compute)
    activations = DTYPE_BYTES[compute] * (1 / inputs + 1 / outputs) if inputs and outputs else 0
    return ridge * DTYPE_BYTES[weights] / (2 - ridge * activations)
