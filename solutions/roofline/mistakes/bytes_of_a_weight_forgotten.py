"""A weight has 2 bytes whatever its format; without widths the answer is the ridge itself."""

from specs import DType, Gpu

from ..roofline import critical_batch as right

EXERCISE = "critical_batch"
HINT = "The ridge is in FLOPs per byte. How many bytes does a weight in this format have?"
FAILS = (
    "test_a_wide_layer_needs_the_ridge_times_half_the_bytes_of_a_weight",
    "test_the_scaling_books_critical_batches",
    "test_the_activations_of_a_narrow_layer_count",
    "test_any_wide_layer",
    "test_any_layer",
)


def critical_batch(
    gpu: Gpu, compute: DType, weights: DType, inputs: int | None = None, outputs: int | None = None
) -> float:
    return right(gpu, compute, "bf16", inputs, outputs)
