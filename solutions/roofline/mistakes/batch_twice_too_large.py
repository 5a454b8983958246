"""A multiplication with its addition counted as one FLOP, or a peak with sparsity: both double the ridge."""

from specs import DType, Gpu

from ..roofline import critical_batch as right

EXERCISE = "critical_batch"
HINT = (
    "The ridge that you solve for is twice too high. Does a token do 2 FLOPs with each weight, and is the peak the "
    "dense one, which gpu.peak_flops gives?"
)
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
    doubled = {name: 2 * rate for name, rate in gpu.dense_tflops.items()}
    return right(gpu.model_copy(update={"dense_tflops": doubled}), compute, weights, inputs, outputs)
